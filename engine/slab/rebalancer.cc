#include "engine/slab/rebalancer.h"

#include <vector>

#include "engine/reclaim/grace_period.h"

namespace pmcached::engine {
namespace {

/// Slabs of the richest class tried before giving up.
constexpr size_t kSlabsTried = 4;

}  // namespace

bool Rebalancer::free_a_slab(Session& session, SizeClass needy) {
  // Offline while waiting, since whoever holds the lock waits for everybody's turn to end.
  session.participant().leave();
  MutexLock lock(mutex_);
  session.participant().enter();
  if (pool_.free_count() > 0) {
    return true;  // Another thread has just freed one.
  }
  SizeClass donor = kNoSizeClass;
  // A class keeps its only slab, unless the other one has none at all.
  uint64_t most = allocator_.usage(needy).slabs == 0 ? 0 : 1;
  for (SizeClass candidate = 0; candidate < slots_.classes().count(); ++candidate) {
    const uint64_t slabs = allocator_.usage(candidate).slabs;
    if (candidate != needy && slabs > most) {
      donor = candidate;
      most = slabs;
    }
  }
  if (donor == kNoSizeClass) {
    return false;
  }
  const std::vector<uint32_t> slabs = allocator_.slabs_of(donor);
  for (size_t i = 0; i < slabs.size() && i < kSlabsTried; ++i) {
    if (empty_and_give_back(session, slabs[i])) {
      moves_.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

bool Rebalancer::empty_and_give_back(Session& session, uint32_t slab) {
  if (!allocator_.start_draining(slab)) {
    return false;
  }
  const SizeClass size_class = slots_.class_of_slab(slab);
  const bool empty = clear(slab) && await_grace_period(epochs_, session.participant(), [&] {
                       return allocator_.release_if_empty(slab);
                     });
  if (!empty) {
    allocator_.stop_draining(slab);
    return false;
  }
  {
    // Every turn that could still have linked one of the slots has ended with the grace period.
    BagList& list = bags_.of(size_class);
    MutexLock lock(list.mutex());
    list.drop_dead_slots();
  }
  pool_.give_back(slab);
  return true;
}

bool Rebalancer::clear(uint32_t slab) {
  const SizeClass size_class = slots_.class_of_slab(slab);
  const uint32_t count = slots_.classes().slots_per_slab(size_class);
  // First a look at all of them, so that nothing is evicted for a slab that cannot be emptied.
  for (uint32_t i = 0; i < count; ++i) {
    if (is_held(slots_.slot_at(slab, size_class, i))) {
      return false;
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    const SlotReference slot = slots_.slot_at(slab, size_class, i);
    const SlotState state = slots_.meta(slot).state();
    if ((state == SlotState::kLive || state == SlotState::kChunk) &&
        items_.remove(slots_.record_of(slot))) {
      evictions_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  return true;
}

bool Rebalancer::is_held(SlotReference slot) const {
  switch (slots_.meta(slot).state()) {
    case SlotState::kReserved:
      return true;
    case SlotState::kLive:
    case SlotState::kChunk:
      // Relaxed: a pin that comes later is waited for.
      return slots_.meta(slots_.record_of(slot)).pins.load(std::memory_order_relaxed) != 0;
    case SlotState::kFree:
    case SlotState::kRetired:
    case SlotState::kRetiredChunk:
      return false;
  }
  return false;
}

}  // namespace pmcached::engine
