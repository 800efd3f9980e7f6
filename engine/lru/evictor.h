#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "engine/clock.h"
#include "engine/item_index.h"
#include "engine/lru/bags.h"
#include "pmem/pool_layout.h"

namespace pmcached::engine {

/// Makes room by removing items that the bags say are least recently used.
///
/// Thread safety: all functions from any thread, inside an epoch turn. Evictions of one size class
/// take turns at its bag list; classes do not meet.
/// Ownership: borrows everything.
class Evictor {
 public:
  Evictor(const Clock& clock, const SlotTable& slots, ItemIndex& items, Bags& bags)
      : clock_(clock), slots_(slots), items_(items), bags_(bags) {}

  /// Removes up to `wanted` items of the class; returns how many. Their slots become free after a
  /// grace period. Items that replies pin are passed over, since removing them frees nothing.
  uint32_t evict(SizeClass size_class, uint32_t wanted);

  struct ClassCounts {
    std::atomic<uint64_t> evicted{0};
    std::atomic<uint64_t> evicted_nonzero{0};
    std::atomic<uint64_t> evicted_unfetched{0};
    std::atomic<uint64_t> evicted_time{0};
  };
  /// Relaxed counters, for statistics.
  const ClassCounts& counts(SizeClass size_class) const { return counts_[size_class]; }
  void reset_counts(SizeClass size_class);

 private:
  SlotReference next_candidate(SizeClass size_class);

  const Clock& clock_;
  const SlotTable& slots_;
  ItemIndex& items_;
  Bags& bags_;
  std::array<ClassCounts, pmem::kMaxSizeClasses> counts_;
};

}  // namespace pmcached::engine
