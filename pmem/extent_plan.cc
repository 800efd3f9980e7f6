#include "pmem/extent_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace pmcached::pmem {

Extent plan_extent(uint64_t offset, uint64_t bytes) {
  const uint64_t end = offset + bytes;
  Extent extent{.offset = offset,
                .bytes = bytes,
                .directory_offset = align_up(offset, kPageSize),
                .first_slab = 0,
                .slab_count = static_cast<uint32_t>(bytes / kSlabSize)};
  // The directory displaces one slab at the least and one more per 65,536 slabs.
  for (; extent.slab_count > 0; --extent.slab_count) {
    const uint64_t directory_end = mirror_offset(extent) + directory_copy_bytes(extent.slab_count);
    extent.first_slab = static_cast<uint32_t>(align_up(directory_end, kSlabSize) / kSlabSize);
    if ((uint64_t{extent.first_slab} + extent.slab_count) * kSlabSize <= end) break;
  }
  return extent;
}

std::string find_extent_fault(std::span<const Extent> extents, uint64_t begin, uint64_t end) {
  uint64_t free_from = begin;
  for (size_t i = 0; i < extents.size(); ++i) {
    const Extent& extent = extents[i];
    if (extent.offset < free_from || extent.offset > end || extent.bytes > end - extent.offset) {
      return fmt::format("extent {} is not within bytes {} to {}", i, free_from, end);
    }
    const uint64_t extent_end = extent.offset + extent.bytes;
    if (extent.slab_count == 0 || extent.slab_count > extent.bytes / kSlabSize) {
      return fmt::format("extent {} cannot have {} slabs", i, extent.slab_count);
    }
    if (extent.directory_offset % kPageSize != 0 || extent.directory_offset < extent.offset ||
        extent.directory_offset > extent_end) {
      return fmt::format("the directory of extent {} cannot be at byte {}", i,
                         extent.directory_offset);
    }
    const uint64_t directory_end = mirror_offset(extent) + directory_copy_bytes(extent.slab_count);
    const uint64_t first_byte = extent.first_slab * kSlabSize;
    if (first_byte < directory_end || first_byte > extent_end ||
        extent.slab_count > (extent_end - first_byte) / kSlabSize) {
      return fmt::format("the slabs of extent {} cannot start at slab {}", i, extent.first_slab);
    }
    free_from = extent_end;
  }
  return {};
}

}  // namespace pmcached::pmem
