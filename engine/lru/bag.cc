#include "engine/lru/bag.h"

#include <thread>

namespace pmcached::engine {
namespace {

SlotReference next_of(const SlotTable& slots, SlotReference slot) {
  // Acquire pairs with the release of link_to(): the next slot's own link is in place.
  return slots.meta(slot).link.load(std::memory_order_acquire) & SlotMeta::kNextMask;
}

void link_to(const SlotTable& slots, SlotReference slot, SlotReference next) {
  slots.meta(slot).update(SlotMeta::kNextMask, next);
}

}  // namespace

void SlotList::push_back(const SlotTable& slots, SlotReference slot) {
  push_back_chain(slots, slot, slot);
}

SlotReference SlotList::pop_front(const SlotTable& slots) {
  const SlotReference slot = head_;
  if (slot == tail_) {
    head_ = tail_ = kNoSlot;
    return slot;
  }
  const SlotReference next = next_of(slots, slot);
  if (next == kNoSlot) {
    return kNoSlot;
  }
  head_ = next;
  return slot;
}

void SlotList::push_back_chain(const SlotTable& slots, SlotReference head, SlotReference tail) {
  if (empty()) {
    head_ = head;
  } else {
    link_to(slots, tail_, head);
  }
  tail_ = tail;
}

void SlotList::push_front_all(const SlotTable& slots, SlotList& older) {
  if (older.empty()) {
    return;
  }
  if (!empty()) {
    older.push_back_chain(slots, head_, tail_);
  }
  *this = older;
  older = SlotList{};
}

void Bag::append_chain(const SlotTable& slots, SlotReference first, SlotReference last,
                       uint32_t count) {
  count_.fetch_add(count, std::memory_order_relaxed);
  // Release: the slot's link is in place before it can be found. Acquire: the predecessor's is too.
  const SlotReference previous = tail_.exchange(last, std::memory_order_acq_rel);
  if (previous == kNoSlot) {
    head_.store(first, std::memory_order_release);
  } else {
    link_to(slots, previous, first);
  }
}

SlotReference Bag::take(const SlotTable& slots, uint64_t* link) {
  const SlotReference slot = !kept_.empty()        ? kept_.pop_front(slots)
                             : !uncleaned_.empty() ? uncleaned_.pop_front(slots)
                                                   : take_main(slots);
  return slot == kNoSlot ? kNoSlot : unlink(slots, slot, link);
}

void Bag::start_cleaning(const SlotTable& slots) {
  uncleaned_.push_front_all(slots, kept_);
  if (tail_.load(std::memory_order_acquire) == kNoSlot) {
    return;
  }
  SlotReference first = kNoSlot;
  while ((first = head_.load(std::memory_order_acquire)) == kNoSlot) {
    std::this_thread::yield();  // A producer stands between its two steps.
  }
  // The head goes first, since a producer that finds the tail empty stores it.
  head_.store(kNoSlot, std::memory_order_relaxed);
  const SlotReference last = tail_.exchange(kNoSlot, std::memory_order_acq_rel);
  uncleaned_.push_back_chain(slots, first, last);
}

SlotReference Bag::take_uncleaned(const SlotTable& slots, uint64_t* link) {
  const SlotReference slot = uncleaned_.pop_front(slots);
  return slot == kNoSlot ? kNoSlot : unlink(slots, slot, link);
}

void Bag::keep(const SlotTable& slots, SlotReference slot) {
  count_.fetch_add(1, std::memory_order_relaxed);
  kept_.push_back(slots, slot);
}

void Bag::merge_into(const SlotTable& slots, Bag& newer) {
  start_cleaning(slots);
  newer.count_.fetch_add(count_.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
  newer.kept_.push_front_all(slots, uncleaned_);
}

SlotReference Bag::peek() const {
  return !kept_.empty()        ? kept_.head()
         : !uncleaned_.empty() ? uncleaned_.head()
                               : head_.load(std::memory_order_acquire);
}

SlotReference Bag::take_main(const SlotTable& slots) {
  const SlotReference slot = head_.load(std::memory_order_acquire);
  if (slot == kNoSlot) {
    return kNoSlot;
  }
  const SlotReference next = next_of(slots, slot);
  if (next != kNoSlot) {
    head_.store(next, std::memory_order_relaxed);
    return slot;
  }
  // The last one, it seems: emptying the part needs the tail. The head goes first, as above.
  head_.store(kNoSlot, std::memory_order_relaxed);
  SlotReference expected = slot;
  if (tail_.compare_exchange_strong(expected, kNoSlot, std::memory_order_acq_rel,
                                    std::memory_order_relaxed)) {
    return slot;
  }
  // A producer has appended behind it and is about to link.
  head_.store(slot, std::memory_order_relaxed);
  return kNoSlot;
}

SlotReference Bag::unlink(const SlotTable& slots, SlotReference slot, uint64_t* link) {
  *link = slots.meta(slot).update(SlotMeta::kNextMask | SlotMeta::kInBag, 0);
  count_.fetch_sub(1, std::memory_order_relaxed);
  return slot;
}

}  // namespace pmcached::engine
