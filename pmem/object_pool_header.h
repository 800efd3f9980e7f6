#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "pmem/status.h"

/// What we know of libpmemobj's own bytes (its layout version 6, checked):
///
///        0  pool header: signature "PMEMOBJ", version; its checksum is libpmemobj's business
///     4096  descriptor: layout name (1024 bytes), places of lanes and heap, checksum
///     6144    offset of the root object, 6152 run id, 6160 size of the root object, heap size
///     6688    state of the running process, never read back
///     8192  lanes (redo and undo logs), heap header, first zone header
///        *  root object
///
/// We allocate and use transactions only while a pool is being created, so everything in front of
/// the root object stays as creation left it, but for the pool header, the run id and the process
/// state. A checksum tells when it did not: libpmemobj trusts its logs, and may die of damaged
/// ones.
namespace pmcached::pmem {

/// Bytes of the file that hold pool header and descriptor.
inline constexpr uint64_t kObjectPoolHeaderBytes = 8192;

/// Checks the first kObjectPoolHeaderBytes of a file of `file_bytes` bytes and finds the page that
/// PoolRoot starts at, which lies within the file together with its whole PoolRoot.
/// kCorrupt: no pool, or damaged. kIncompatible: a pool of another program.
Status find_pool_root(const std::string& path, std::span<const std::byte> header,
                      uint64_t file_bytes, uint64_t* root_page);

/// CRC32C of libpmemobj's unchanging bytes within `head`, the file up to the page of PoolRoot.
uint32_t checksum_allocator(std::span<const std::byte> head);

}  // namespace pmcached::pmem
