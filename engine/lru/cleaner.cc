#include "engine/lru/cleaner.h"

#include <algorithm>

namespace pmcached::engine {
namespace {

/// Slots passed in one turn, under one hold of the bag list's lock.
constexpr uint64_t kTurnSlots = 256;
/// A class is divided into about this many bags, so that the order of eviction is that fine.
constexpr uint64_t kBagsWanted = BagList::kRingSize / 2;
constexpr int64_t kSmallestBag = 32;
/// A new bag is opened after so many seconds even without insertions, so that reads of different
/// times can be told apart.
constexpr uint32_t kBagSeconds = 15;
/// Slots kept free in a full class: one in kReserveShare, within limits.
constexpr uint64_t kReserveShare = 256;
constexpr uint64_t kReserveMax = 512;

}  // namespace

void Cleaner::run_once(Session& session) {
  // So that what was retired before becomes free even in a class where nothing happens any more.
  epochs_.advance();
  for (SizeClass size_class = 0; size_class < slots_.classes().count(); ++size_class) {
    if (allocator_.usage(size_class).slabs == 0 && bags_.of(size_class).idle()) {
      continue;
    }
    open_bags(size_class);
    keep_reserve(session, size_class);
    clean(session, size_class);
  }
}

void Cleaner::open_bags(SizeClass size_class) {
  BagList& list = bags_.of(size_class);
  const uint64_t slots =
      allocator_.usage(size_class).slabs * slots_.classes().slots_per_slab(size_class);
  list.set_capacity(std::max(static_cast<int64_t>(slots / kBagsWanted), kSmallestBag));
  ClassState& state = classes_[size_class];
  const bool due = clock_.now() - state.last_opening >= kBagSeconds;
  MutexLock lock(list.mutex());
  if (list.open_bag_if_full(due)) {
    state.last_opening = clock_.now();
  }
}

void Cleaner::keep_reserve(Session& session, SizeClass size_class) {
  allocator_.collect(size_class);
  if (!options_.evict_to_free || pool_.free_count() > 0) {
    return;
  }
  const SlabAllocator::ClassUsage usage = allocator_.usage(size_class);
  const uint64_t slots = usage.slabs * slots_.classes().slots_per_slab(size_class);
  const uint64_t reserve = std::min(slots / kReserveShare, kReserveMax);
  const uint64_t available = usage.free_slots + usage.waiting_slots;
  if (available < reserve) {
    const Session::Turn turn(session);
    evictor_.evict(size_class, static_cast<uint32_t>(reserve - available));
    epochs_.advance();
  }
}

void Cleaner::clean(Session& session, SizeClass size_class) {
  ClassState& state = classes_[size_class];
  const uint32_t now = clock_.now();
  if (now == state.last_second) {
    return;
  }
  state.last_second = now;
  const uint64_t slots =
      allocator_.usage(size_class).slabs * slots_.classes().slots_per_slab(size_class);
  BagList& list = bags_.of(size_class);
  std::vector<SlotReference> dead;
  bool finished = false;
  for (uint64_t left = slots / kFullPassSeconds + kTurnSlots; left >= kTurnSlots && !finished;
       left -= kTurnSlots) {
    const Session::Turn turn(session);
    {
      MutexLock lock(list.mutex());
      if (!state.position.started) {
        state.flush_seen = flush_.epoch();
      }
      const bool look_for_flushed = state.flush_seen != state.flush_cleaned;
      finished = list.clean(&state.position, kTurnSlots, [&](SlotReference anchor, SlotMeta& meta) {
        // Items without expiry are passed without a look at the pool.
        const bool timed = (meta.link.load(std::memory_order_relaxed) & SlotMeta::kTimed) != 0;
        if ((!timed && !look_for_flushed) || !is_dead(slots_.record_of(anchor))) {
          return BagList::Verdict::kKeep;
        }
        dead.push_back(anchor);
        return BagList::Verdict::kDrop;
      });
    }
    for (const SlotReference anchor : dead) {
      const bool fetched = BagList::fetched(slots_.meta(anchor));
      // Judged again under the lock: a touch may have come in between.
      if (items_.remove_if(slots_.record_of(anchor),
                           [this](SlotReference slot) { return is_dead(slot); })) {
        counts_[size_class].reclaimed.fetch_add(1, std::memory_order_relaxed);
        counts_[size_class].expired_unfetched.fetch_add(fetched ? 0 : 1, std::memory_order_relaxed);
      } else {
        list.insert(anchor);
      }
    }
    dead.clear();
  }
  if (finished) {
    state.flush_cleaned = state.flush_seen;
  }
}

void Cleaner::reset_counts(SizeClass size_class) {
  counts_[size_class].reclaimed.store(0, std::memory_order_relaxed);
  counts_[size_class].expired_unfetched.store(0, std::memory_order_relaxed);
}

bool Cleaner::is_dead(SlotReference slot) const {
  const ItemView item(slots_, slot);
  const uint32_t exptime = item.exptime();
  return (exptime != 0 && exptime <= clock_.now()) || flush_.covers(item.cas());
}

}  // namespace pmcached::engine
