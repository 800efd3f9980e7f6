#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "engine/item/slot_table.h"
#include "engine/reclaim/epoch.h"
#include "engine/slab/slab_pool.h"
#include "pmem/mutex.h"

namespace pmcached::engine {

/// Free slots, by size class, and retired ones on their way back.
///
/// Purpose: hands out slots; takes retired ones back when no reader can see them any more: after an
/// epoch grace period, and when no reply pins them.
/// Thread safety: all functions from any thread; a lock per size class, so classes do not meet.
/// Ownership: borrows slot table, slab pool and epochs. Free slots are bits in a bitmap per slab;
/// nothing in the pool is touched to free or allocate a slot.
/// Failure: allocate() returns kNoSlot when the class has no free slot and no slab is left.
class SlabAllocator {
 public:
  SlabAllocator(SlotTable& slots, SlabPool& pool, EpochRegistry& epochs);

  /// A slot in state kReserved: a free one, else one whose grace period is over, else one of a slab
  /// freshly carved. kNoSlot if there is none; evicting is the caller's business.
  SlotReference allocate(SizeClass size_class);
  /// Gives back a slot that was never published (kReserved).
  void abandon(SlotReference slot);
  /// Takes a slot that has just been unlinked (kLive or kChunk) and frees it when it is safe.
  void retire(SlotReference slot);

  /// Frees what has become safe. Returns the number of slots freed.
  uint32_t collect(SizeClass size_class);

  /// Recovery: a slab that the directory assigns to `size_class`; its free slots are those in state
  /// kFree. Precondition: attached, and its slots' states are final.
  void adopt(uint32_t slab);

  /// Takes `slab` out of allocation: its free slots stay free. False if it is out already.
  bool start_draining(uint32_t slab);
  /// Back into allocation.
  void stop_draining(uint32_t slab);
  /// Forgets a draining slab, if all of its slots are free. Afterwards it belongs to the caller.
  bool release_if_empty(uint32_t slab);

  struct ClassUsage {
    uint64_t slabs = 0;
    uint64_t free_slots = 0;
    uint64_t waiting_slots = 0;  ///< retired, for a grace period to end
    uint64_t pinned_slots = 0;   ///< retired, but still being sent
  };
  ClassUsage usage(SizeClass size_class) const;
  /// The slabs of a class at this moment, those with most free slots first.
  std::vector<uint32_t> slabs_of(SizeClass size_class) const;
  /// Whether no slot of the slab is in use. Precondition: carved.
  bool is_unused(uint32_t slab) const;
  /// How many such slabs the classes keep. Relaxed: a hint that a slab can be had without evicting.
  uint32_t unused_slabs() const { return unused_slabs_.load(std::memory_order_relaxed); }

 private:
  struct Slab {
    SizeClass size_class = kNoSizeClass;
    bool draining = false;
    uint32_t free_slots = 0;
    uint32_t first_word = 0;  ///< no free bit stands in a word before it
    std::unique_ptr<uint64_t[]> free_bits;
  };
  struct Limbo {
    uint64_t tag;
    SlotReference slot;
  };
  struct alignas(64) ClassState {
    mutable Mutex mutex;
    std::vector<uint32_t> slabs GUARDED_BY(mutex);
    /// Slabs that have free slots and are not draining.
    std::vector<uint32_t> with_space GUARDED_BY(mutex);
    uint64_t free_slots GUARDED_BY(mutex) = 0;  ///< in slabs that are not draining
    std::deque<Limbo> limbo GUARDED_BY(mutex);  ///< tags never decrease from front to back
    /// Past their grace period, but a reply still sends them.
    std::vector<SlotReference> pinned GUARDED_BY(mutex);
  };

  /// Whether all slots are free and may be allocated.
  bool is_spare(const Slab& slab) const {
    return !slab.draining && slab.free_slots == slots_.classes().slots_per_slab(slab.size_class);
  }
  /// Around a change of the slab's free slots or its draining: before, and after.
  void before_change(const Slab& slab) {
    unused_slabs_.fetch_sub(is_spare(slab) ? 1 : 0, std::memory_order_relaxed);
  }
  void after_change(const Slab& slab) {
    unused_slabs_.fetch_add(is_spare(slab) ? 1 : 0, std::memory_order_relaxed);
  }
  SlotReference take_free(ClassState& state) REQUIRES(state.mutex);
  void put_free(ClassState& state, SlotReference slot) REQUIRES(state.mutex);
  uint32_t collect_locked(ClassState& state) REQUIRES(state.mutex);
  void add_slab(ClassState& state, uint32_t slab, SizeClass size_class) REQUIRES(state.mutex);
  bool is_pinned(SlotReference slot) const;

  SlotTable& slots_;
  SlabPool& pool_;
  EpochRegistry& epochs_;
  std::array<ClassState, pmem::kMaxSizeClasses> classes_;
  /// By slab number; a slab's entry is guarded by the lock of its class.
  std::vector<Slab> slabs_;
  std::atomic<uint32_t> unused_slabs_{0};
};

}  // namespace pmcached::engine
