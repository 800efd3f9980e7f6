#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pmem/pool_layout.h"

namespace pmcached::engine {

/// Number of a size class, from 0. (memcached's statistics count from 1.)
using SizeClass = uint8_t;
inline constexpr SizeClass kNoSizeClass = 0xff;

/// The slot sizes of a region and the arithmetic on them.
///
/// Purpose: which class a record belongs to; where in its slab a slot stands.
/// Thread safety: immutable after construction.
class SizeClasses {
 public:
  /// `slot_lines` as Region::slot_lines(): ascending, 1 to kMaxSizeClasses entries, each at most
  /// half a slab.
  explicit SizeClasses(std::span<const uint32_t> slot_lines);

  uint32_t count() const { return static_cast<uint32_t>(classes_.size()); }
  uint32_t slot_lines(SizeClass size_class) const { return classes_[size_class].lines; }
  uint32_t slot_bytes(SizeClass size_class) const {
    return classes_[size_class].lines * static_cast<uint32_t>(pmem::kLineSize);
  }
  uint32_t slots_per_slab(SizeClass size_class) const { return classes_[size_class].per_slab; }
  SizeClass largest() const { return static_cast<SizeClass>(classes_.size() - 1); }
  uint32_t largest_slot_bytes() const { return slot_bytes(largest()); }

  /// The smallest class whose slots hold `bytes`. Precondition: bytes <= largest_slot_bytes().
  SizeClass class_for(uint64_t bytes) const {
    return by_lines_[(bytes + pmem::kLineSize - 1) / pmem::kLineSize];
  }

  /// The slot that line `line` of a slab begins or belongs to.
  uint32_t slot_index(SizeClass size_class, uint32_t line) const {
    // Multiplying by the rounded-up reciprocal divides exactly, since line < 2^14.
    return static_cast<uint32_t>(line * classes_[size_class].reciprocal >> 32);
  }

 private:
  struct Class {
    uint64_t reciprocal;
    uint32_t lines;
    uint32_t per_slab;
  };
  std::vector<Class> classes_;
  std::vector<SizeClass> by_lines_;  ///< smallest class for a record of that many lines
};

}  // namespace pmcached::engine
