#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "pmem/persister.h"
#include "pmem/pool_layout.h"
#include "pmem/status.h"

/// Growing a pool. libpmemobj cannot grow a plain file, but maps all of a longer one and touches
/// nothing behind its heap; so the new tail becomes an extent that libpmemobj knows nothing of.
///
/// Step                                        what a cut after it leaves
/// 1 the file is lengthened (PoolFile)          a tail that the superblock does not mention:
/// ignored 2 libpmemobj opens and maps the whole file   the same 3 the new extent's directory is
/// formatted    the same 4 first superblock copy, with the extent     grown; the other copy is
/// rewritten at opening 5 second superblock copy                     grown
namespace pmcached::pmem {

/// What the superblock of the pool at `path` becomes when the file grows to `pool_bytes`, a
/// multiple of 1 MiB larger than now. kInvalid if the tail holds no slab or the extent table is
/// full.
Status plan_growth(const std::string& path, const Superblock& superblock, uint64_t pool_bytes,
                   Superblock* grown);

/// Steps 3 to 5. `base` is the mapping of the lengthened file and `root` lies in it, both of its
/// superblock copies holding the version that `grown` was planned from. On success `grown` is what
/// they hold now.
Status commit_growth(std::byte* base, PoolRoot* root, const Persister& persister,
                     Superblock* grown);

}  // namespace pmcached::pmem
