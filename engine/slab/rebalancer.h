#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "engine/item_index.h"
#include "engine/lru/bags.h"
#include "engine/session.h"
#include "engine/slab/slab_allocator.h"
#include "engine/slab/slab_pool.h"
#include "pmem/mutex.h"

namespace pmcached::engine {

/// Moves a slab from a size class that has many to the pool of free slabs, so that a class whose
/// sizes were not seen before is not shut out of a full cache.
///
/// Thread safety: all functions from any thread; one move at a time.
/// Ownership: borrows everything.
class Rebalancer {
 public:
  Rebalancer(SlotTable& slots, SlabPool& pool, SlabAllocator& allocator, EpochRegistry& epochs,
             ItemIndex& items, Bags& bags)
      : slots_(slots),
        pool_(pool),
        allocator_(allocator),
        epochs_(epochs),
        items_(items),
        bags_(bags) {}

  /// Empties a slab of another class than `needy`, evicting what is in it, and gives it to the free
  /// pool; tries slabs without items first, then the class with most slabs. False when replies and
  /// stores in flight hold slots of all slabs tried. Ends the session's views.
  ///
  /// Durable steps: each item's retirement, then the directory word (free). A cut in between leaves
  /// the slab with its class and the items that were left.
  bool free_a_slab(Session& session, SizeClass needy);

  /// Slabs moved, and items evicted for it. Relaxed, for statistics.
  uint64_t moves() const { return moves_.load(std::memory_order_relaxed); }
  uint64_t evictions() const { return evictions_.load(std::memory_order_relaxed); }
  /// `stats reset`.
  void reset_counts() {
    moves_.store(0, std::memory_order_relaxed);
    evictions_.store(0, std::memory_order_relaxed);
  }

 private:
  /// Slabs to try, in order.
  std::vector<uint32_t> candidates(SizeClass needy) const;
  bool empty_and_give_back(Session& session, uint32_t slab) REQUIRES(mutex_);
  /// Removes the items that have slots in the slab. False, with nothing removed, if one is held.
  bool clear(uint32_t slab);
  /// Whether a store in flight or a reply holds the slot.
  bool is_held(SlotReference slot) const;

  SlotTable& slots_;
  SlabPool& pool_;
  SlabAllocator& allocator_;
  EpochRegistry& epochs_;
  ItemIndex& items_;
  Bags& bags_;
  Mutex mutex_;
  std::atomic<uint64_t> moves_{0};
  std::atomic<uint64_t> evictions_{0};
};

}  // namespace pmcached::engine
