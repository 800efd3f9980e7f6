#include "pmem/slab_sections.h"

#include "pmem/extent_plan.h"

namespace pmcached::pmem {

std::vector<SlabDirectory::Section> sections_of(std::byte* base, std::span<const Extent> extents) {
  const auto words = [base](uint64_t offset, uint32_t count) {
    return std::span(reinterpret_cast<uint64_t*>(base + offset), count);
  };
  std::vector<SlabDirectory::Section> sections;
  for (const Extent& extent : extents) {
    sections.push_back({.first_slab = extent.first_slab,
                        .primary = words(extent.directory_offset, extent.slab_count),
                        .mirror = words(mirror_offset(extent), extent.slab_count)});
  }
  return sections;
}

}  // namespace pmcached::pmem
