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
  uint64_t most = 1;
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
  bool reserved = false;
  for (uint32_t i = 0; i < slots_.classes().slots_per_slab(size_class) && !reserved; ++i) {
    reserved = !clear_slot(slots_.slot_at(slab, size_class, i));
  }
  const bool empty = !reserved && await_grace_period(epochs_, session.participant(), [&] {
    return allocator_.release_if_empty(slab);
  });
  if (!empty) {
    allocator_.stop_draining(slab);
    return false;
  }
  // Every turn that could still have linked one of the slots has ended with the grace period.
  // Chunked items' slots are linked in the largest class.
  for (const SizeClass linked_in : {size_class, slots_.classes().largest()}) {
    BagList& list = bags_.of(linked_in);
    MutexLock lock(list.mutex());
    list.drop_dead_slots();
  }
  pool_.give_back(slab);
  return true;
}

bool Rebalancer::clear_slot(SlotReference slot) {
  const SlotMeta& meta = slots_.meta(slot);
  switch (meta.state()) {
    case SlotState::kReserved:
      return false;
    case SlotState::kLive:
      items_.remove(slot);
      return true;
    case SlotState::kChunk:
      items_.remove(meta.owner());
      return true;
    case SlotState::kFree:
    case SlotState::kRetired:
    case SlotState::kRetiredChunk:
      return true;
  }
  return true;
}

}  // namespace pmcached::engine
