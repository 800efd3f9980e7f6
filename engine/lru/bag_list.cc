#include "engine/lru/bag_list.h"

#include <thread>

namespace pmcached::engine {

bool BagList::insert(SlotReference slot) {
  if (idle_.load(std::memory_order_relaxed)) {
    idle_.store(false, std::memory_order_relaxed);
  }
  Bag& newest = bag(newest_.load(std::memory_order_relaxed));
  if (claim(slots_.meta(slot))) {
    newest.append(slots_, slot);
  }
  return newest.count() >= capacity_.load(std::memory_order_relaxed);
}

void BagList::insert_chain(SlotReference first, SlotReference last, uint32_t count) {
  idle_.store(false, std::memory_order_relaxed);
  bag(newest_.load(std::memory_order_relaxed)).append_chain(slots_, first, last, count);
}

SlotReference BagList::take_oldest(uint32_t max_steps) {
  for (uint32_t step = 0; step < max_steps; ++step) {
    drop_empty_oldest();
    if (oldest_ == newest_.load(std::memory_order_relaxed)) {
      // Eviction never competes with insertion: what is left becomes the oldest bag.
      if (bag(oldest_).empty()) {
        return kNoSlot;
      }
      open_bag();
    }
    uint64_t link = 0;
    const SlotReference slot = bag(oldest_).take(slots_, &link);
    if (slot == kNoSlot) {
      std::this_thread::yield();  // A producer is about to link the next one.
      continue;
    }
    if (!SlotMeta::anchors_item(link)) {
      continue;
    }
    SlotMeta& meta = slots_.meta(slot);
    if (touched_since(meta, oldest_)) {
      move_up(slot, meta, oldest_);
      continue;
    }
    return slot;
  }
  return kNoSlot;
}

bool BagList::clean(Position* position, uint64_t max_slots, const Judge& judge) {
  if (!position->started || position->bag - oldest_ >= kRingSize) {
    *position = {.bag = oldest_, .started = true};
    bag(oldest_).start_cleaning(slots_);
  }
  for (uint64_t passed = 0; passed < max_slots; ++passed) {
    Bag& current = bag(position->bag);
    uint64_t link = 0;
    const SlotReference slot = current.take_uncleaned(slots_, &link);
    if (slot == kNoSlot) {
      if (position->bag == newest_.load(std::memory_order_relaxed)) {
        position->started = false;
        return true;
      }
      bag(++position->bag).start_cleaning(slots_);
      continue;
    }
    if (!SlotMeta::anchors_item(link)) {
      continue;
    }
    SlotMeta& meta = slots_.meta(slot);
    if (judge(slot, meta) == Verdict::kDrop) {
      continue;
    }
    if (touched_since(meta, position->bag)) {
      move_up(slot, meta, position->bag);
    } else if (claim(meta)) {
      current.keep(slots_, slot);
    }
  }
  return false;
}

void BagList::drop_dead_slots() {
  // The whole ring, since a late producer may have appended to a bag that is not in use.
  for (Bag& each : ring_) {
    each.start_cleaning(slots_);
    while (!each.fully_cleaned()) {
      uint64_t link = 0;
      const SlotReference slot = each.take_uncleaned(slots_, &link);
      if (slot == kNoSlot) {
        std::this_thread::yield();  // A producer is about to link the next one.
      } else if (SlotMeta::anchors_item(link) && claim(slots_.meta(slot))) {
        each.keep(slots_, slot);
      }
    }
  }
}

bool BagList::open_bag_if_full(bool force) {
  drop_empty_oldest();
  const Bag& newest = bag(newest_.load(std::memory_order_relaxed));
  if (newest.count() < capacity_.load(std::memory_order_relaxed) &&
      (!force || bag(oldest_).empty())) {
    return false;
  }
  open_bag();
  return true;
}

void BagList::open_bag() {
  const uint32_t newest = newest_.load(std::memory_order_relaxed);
  if (newest + 1 - oldest_ == kRingSize) {
    bag(oldest_).merge_into(slots_, bag(oldest_ + 1));
    ++oldest_;
    ++merges_;
  }
  newest_.store(newest + 1, std::memory_order_relaxed);
}

BagList::Statistics BagList::statistics() {
  MutexLock lock(mutex_);
  const uint32_t newest = newest_.load(std::memory_order_relaxed);
  Statistics result{
      .bags = newest - oldest_ + 1, .moves = moves_, .merges = merges_, .oldest_access = 0};
  for (uint32_t number = oldest_; number != newest + 1; ++number) {
    if (const SlotReference slot = bag(number).peek(); slot != kNoSlot) {
      result.oldest_access = last_access(slot);
      break;
    }
  }
  return result;
}

uint32_t BagList::last_access(SlotReference slot) const {
  // The lock keeps the slab of a linked slot; the owner of a chunk may have gone already.
  const SlotMeta* meta = &slots_.meta(slot);
  if (!SlotMeta::anchors_item(meta->link.load(std::memory_order_acquire))) {
    return 0;
  }
  if (meta->state() == SlotState::kChunk) {
    meta = slots_.find_meta(meta->owner());
  }
  return meta == nullptr ? 0 : meta->last_access.load(std::memory_order_relaxed);
}

bool BagList::touched_since(const SlotMeta& meta, uint32_t sequence) const {
  const uint32_t residence = meta.residence.load(std::memory_order_relaxed) >> 1;
  const uint32_t distance = (residence - sequence) & kNumberMask;
  return distance != 0 && distance <= kNumberMask / 2;
}

void BagList::move_up(SlotReference slot, SlotMeta& meta, uint32_t from) {
  const uint32_t newest = newest_.load(std::memory_order_relaxed);
  const uint32_t target = newest - from > 1 ? newest - 1 : newest;
  uint16_t seen = meta.residence.load(std::memory_order_relaxed);
  const auto lowered = static_cast<uint16_t>((target & kNumberMask) << 1 | (seen & kFetched));
  // Fails when a reader has just touched the item again: its newer mark stays.
  meta.residence.compare_exchange_strong(seen, lowered, std::memory_order_relaxed);
  if (claim(meta)) {
    bag(target).append(slots_, slot);
    ++moves_;
  }
}

bool BagList::claim(SlotMeta& meta) {
  uint64_t link = meta.link.load(std::memory_order_relaxed);
  while (SlotMeta::anchors_item(link) && (link & SlotMeta::kInBag) == 0) {
    // Acquire and release: as SlotMeta::update().
    if (meta.link.compare_exchange_weak(link, link | SlotMeta::kInBag, std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void BagList::drop_empty_oldest() {
  while (oldest_ != newest_.load(std::memory_order_relaxed) && bag(oldest_).empty()) {
    ++oldest_;
  }
}

}  // namespace pmcached::engine
