#include "engine/slab/rebalancer.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "engine/reclaim/grace_period.h"

namespace pmcached::engine {
namespace {

/// Slabs of each class tried before giving up: a look at one that is held is cheap.
constexpr size_t kSlabsTried = 64;

}  // namespace

bool Rebalancer::free_a_slab(Session& session, SizeClass needy) {
  // Offline while waiting, since whoever holds the lock waits for everybody's turn to end.
  session.participant().leave();
  MutexLock lock(mutex_);
  session.participant().enter();
  if (pool_.free_count() > 0) {
    return true;  // Another thread has just freed one.
  }
  for (const uint32_t slab : candidates(needy)) {
    if (empty_and_give_back(session, slab)) {
      moves_.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

std::vector<uint32_t> Rebalancer::candidates(SizeClass needy) const {
  std::vector<std::vector<uint32_t>> donors;
  for (uint32_t i = 0; i < slots_.classes().count(); ++i) {
    const auto donor = static_cast<SizeClass>(i);
    if (donor != needy) {
      allocator_.collect(donor);
      donors.push_back(allocator_.slabs_of(donor));
    }
  }
  std::ranges::stable_sort(donors, std::ranges::greater{}, &std::vector<uint32_t>::size);
  std::vector<uint32_t> slabs;
  for (const std::vector<uint32_t>& donor : donors) {
    const size_t tried = std::min(donor.size(), kSlabsTried);
    slabs.insert(slabs.end(), donor.begin(), donor.begin() + static_cast<std::ptrdiff_t>(tried));
  }
  std::stable_partition(slabs.begin(), slabs.end(),
                        [this](uint32_t slab) { return allocator_.is_unused(slab); });
  return slabs;
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
