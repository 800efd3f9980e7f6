#include "engine/slab/size_class.h"

#include <algorithm>
#include <cmath>

#include "engine/item/item_layout.h"
#include "engine/options.h"

namespace pmcached::engine {

std::vector<uint32_t> make_size_classes(double growth_factor, uint32_t min_space_bytes) {
  constexpr uint32_t kLargestLines = pmem::kLinesPerSlab / 2;
  constexpr double kLine = pmem::kLineSize;
  const double smallest = (double{sizeof(RecordHeader)} + min_space_bytes) / kLine;
  std::vector<uint32_t> classes;
  // memcached's rule, in lines: each class is `growth_factor` times the one before, rounded up; the
  // small ones grow by a line at least.
  for (double lines = std::ceil(smallest);
       lines < kLargestLines && classes.size() + 1 < pmem::kMaxSizeClasses;
       lines = std::max(std::ceil(lines * growth_factor), lines + 1)) {
    classes.push_back(static_cast<uint32_t>(lines));
  }
  classes.push_back(kLargestLines);
  return classes;
}

SizeClasses::SizeClasses(std::span<const uint32_t> slot_lines) {
  for (const uint32_t lines : slot_lines) {
    classes_.push_back({.reciprocal = ((uint64_t{1} << 32) + lines - 1) / lines,
                        .lines = lines,
                        .per_slab = static_cast<uint32_t>(pmem::kLinesPerSlab / lines)});
    by_lines_.resize(lines + 1, static_cast<SizeClass>(classes_.size() - 1));
  }
}

}  // namespace pmcached::engine
