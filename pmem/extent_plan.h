#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "pmem/alignment.h"
#include "pmem/pool_layout.h"

/// How an extent is divided: directory words in front, slabs from the next MiB of the file on.
///
///   offset   directory_offset                           first_slab * 1 MiB
///   |  < 4 KiB  | primary words ... | mirror words ... |  < 1 MiB  | slab | slab | ... | < 1 MiB |
///               ^ page              ^ page                         ^ MiB of the file
///
/// Thread safety: pure functions.
namespace pmcached::pmem {

/// Bytes that `slab_count` directory words take, up to the next page boundary.
constexpr uint64_t directory_copy_bytes(uint32_t slab_count) {
  return align_up(uint64_t{slab_count} * sizeof(uint64_t), kPageSize);
}

constexpr uint64_t mirror_offset(const Extent& extent) {
  return extent.directory_offset + directory_copy_bytes(extent.slab_count);
}

/// Divides [offset, offset + bytes) of the file. slab_count is 0 if not even one slab fits.
Extent plan_extent(uint64_t offset, uint64_t bytes);

/// What is wrong with `extents`, read from a pool, if they are to lie within [begin, end) of the
/// file, ascending, disjoint and with their parts in place; empty if nothing is.
std::string find_extent_fault(std::span<const Extent> extents, uint64_t begin, uint64_t end);

}  // namespace pmcached::pmem
