#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pmem/region.h"
#include "pmem/status.h"

namespace pmcached::pmem {

/// What the operator asked of a pool file.
struct PoolOptions {
  /// The pool file: on fsdax, tmpfs or any file system.
  std::string path;
  /// Wanted size of the file in bytes, rounded down to whole MiB; 0 = whatever the existing pool
  /// has. At least 64 MiB. A larger value than the existing pool's grows the file and keeps the
  /// data; a smaller one is refused.
  uint64_t bytes = 0;
  /// The size-class table of a new pool; an existing pool keeps the one it was created with.
  std::vector<uint32_t> slot_lines;
};

/// Opens the pool at `options.path`, creates it when there is no such file, grows it when a larger
/// size is asked for. Before libpmemobj sees the file, its size, its headers and the free space are
/// checked, so that every refusal is one sentence of ours:
///   kNotFound      the directory is not there
///   kNoSpace       the file system lacks room (says how much is missing); nothing was created
///   kBusy          another server has the pool open
///   kCorrupt       not a pool, truncated, or both copies of a header are bad
///   kIncompatible  another program's pool, another layout version, an unknown feature bit
///   kInvalid       smaller than 64 MiB or than the existing pool
///   kIo            anything else the system refused, with its reason
/// A pool is built under "<path>.creating" and renamed when complete, so a cut during creation
/// leaves no half pool under its name. The file mode is 0600.
///
/// What can be restored from a second copy is restored, and Region::findings() says so.
///
/// On success the run state says "not clean" durably, with this boot's id; after a power cut the
/// id is left to Region::mark_recovered().
///
/// Thread safety: any thread. Where libpmemobj's own metadata turns out damaged, the pool is first
/// opened by a forked child, so open pools before starting threads.
Status open_pool(const PoolOptions& options, std::unique_ptr<Region>* region);

}  // namespace pmcached::pmem
