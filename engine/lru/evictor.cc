#include "engine/lru/evictor.h"

namespace pmcached::engine {
namespace {

/// Slots looked at for one candidate: touched and empty ones are passed on the way.
constexpr uint32_t kMaxSteps = 1024;
/// Pinned items met in one call before giving up.
constexpr uint32_t kMaxPinned = 4096;

}  // namespace

uint32_t Evictor::evict(SizeClass size_class, uint32_t wanted) {
  ClassCounts& counts = counts_[size_class];
  uint32_t evicted = 0;
  uint32_t pinned = 0;
  while (evicted < wanted && pinned < kMaxPinned) {
    const SlotReference anchor = next_candidate(size_class);
    if (anchor == kNoSlot) {
      break;
    }
    const SlotReference slot = slots_.record_of(anchor);
    const SlotMeta& meta = slots_.meta(slot);
    // Relaxed: a pin that comes right after only delays the slot's reuse.
    if (meta.pins.load(std::memory_order_relaxed) != 0) {
      bags_.of(size_class).insert(anchor);
      ++pinned;
      continue;
    }
    const bool timed = ItemView(slots_, slot).exptime() != 0;
    const bool fetched = BagList::fetched(slots_.meta(anchor));
    const uint32_t idle = clock_.now() - meta.last_access.load(std::memory_order_relaxed);
    if (items_.remove(slot)) {
      ++evicted;
      counts.evicted.fetch_add(1, std::memory_order_relaxed);
      counts.evicted_nonzero.fetch_add(timed ? 1 : 0, std::memory_order_relaxed);
      counts.evicted_unfetched.fetch_add(fetched ? 0 : 1, std::memory_order_relaxed);
      counts.evicted_time.store(idle, std::memory_order_relaxed);
    }
  }
  return evicted;
}

void Evictor::reset_counts(SizeClass size_class) {
  ClassCounts& counts = counts_[size_class];
  counts.evicted.store(0, std::memory_order_relaxed);
  counts.evicted_nonzero.store(0, std::memory_order_relaxed);
  counts.evicted_unfetched.store(0, std::memory_order_relaxed);
  counts.evicted_time.store(0, std::memory_order_relaxed);
}

SlotReference Evictor::next_candidate(SizeClass size_class) {
  BagList& list = bags_.of(size_class);
  MutexLock lock(list.mutex());
  return list.take_oldest(kMaxSteps);
}

}  // namespace pmcached::engine
