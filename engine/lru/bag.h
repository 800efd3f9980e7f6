#pragma once

#include <atomic>
#include <cstdint>

#include "engine/item/slot_table.h"

namespace pmcached::engine {

/// A singly linked list of slots, oldest first, of one thread; part of a Bag.
class SlotList {
 public:
  bool empty() const { return head_ == kNoSlot; }
  SlotReference head() const { return head_; }
  void push_back(const SlotTable& slots, SlotReference slot);
  /// kNoSlot when empty, or when the link behind the first slot is still being made by a producer
  /// that appended to the bag this list came from.
  SlotReference pop_front(const SlotTable& slots);
  /// Adds the slots from `head` to `tail`, linked already, at the end.
  void push_back_chain(const SlotTable& slots, SlotReference head, SlotReference tail);
  /// Moves all of `older` before this list's own slots.
  void push_front_all(const SlotTable& slots, SlotList& older);

 private:
  SlotReference head_ = kNoSlot;
  SlotReference tail_ = kNoSlot;
};

/// A queue of slots with similar access times: many producers without locks, one consumer.
///
/// Purpose: the paper's bag (section 3.5.2), with two changes. Appending exchanges the tail instead
/// of searching the end by compare-and-swap, so it finishes in two steps under any contention. And
/// a bag that is being cleaned keeps its order for evictions that come in between: what was cleaned
/// and kept stands before what is still to be cleaned.
///
///   oldest   kept           uncleaned       main (producers append at the tail)   newest
///            [] -> []       [] -> []        head [] -> [] -> [] tail
///
/// Thread safety: append() and count() from any thread; everything else from one thread at a time
/// (BagList's lock). All inside an epoch turn.
/// Ownership: slots are linked through SlotMeta::link; the bag owns none of them.
/// Invariant: a slot is in at most one bag; SlotMeta::kInBag is set exactly while it is in one, or
/// while the thread that has set it is about to append it.
class Bag {
 public:
  /// Adds a slot at the end. Precondition: the caller has set kInBag in the slot's link.
  void append(const SlotTable& slots, SlotReference slot) { append_chain(slots, slot, slot, 1); }
  /// Adds `count` slots that are linked already, for the price of one. Precondition: as append(),
  /// and no other thread knows the links.
  void append_chain(const SlotTable& slots, SlotReference first, SlotReference last,
                    uint32_t count);

  /// Takes the oldest slot out, clears its kInBag and stores its link word of that moment. kNoSlot
  /// when the bag is empty, or when the next slot is just being appended.
  SlotReference take(const SlotTable& slots, uint64_t* link);

  /// Makes everything in the bag at this moment uncleaned.
  void start_cleaning(const SlotTable& slots);
  /// As take(), but the oldest uncleaned slot.
  SlotReference take_uncleaned(const SlotTable& slots, uint64_t* link);
  /// Puts a slot back after take_uncleaned(), as the newest of the cleaned ones. Precondition: as
  /// append().
  void keep(const SlotTable& slots, SlotReference slot);
  bool fully_cleaned() const { return uncleaned_.empty(); }
  /// Whether no slot is in the bag. Acquire pairs with the exchange of append().
  bool empty() const {
    return kept_.empty() && uncleaned_.empty() && tail_.load(std::memory_order_acquire) == kNoSlot;
  }

  /// Moves every slot to the oldest end of `newer`.
  void merge_into(const SlotTable& slots, Bag& newer);

  /// The oldest slot without taking it; kNoSlot if none.
  SlotReference peek() const;
  /// Slots in the bag, those included whose items are gone. Approximate while producers run.
  int64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  SlotReference take_main(const SlotTable& slots);
  SlotReference unlink(const SlotTable& slots, SlotReference slot, uint64_t* link);

  // Consumer only:
  SlotList kept_;
  SlotList uncleaned_;
  /// First slot of the main part. Producers store it (release) when they found the tail empty; the
  /// consumer acquires it.
  std::atomic<SlotReference> head_{kNoSlot};
  /// Last slot of the main part, exchanged (acquire-release) by producers.
  std::atomic<SlotReference> tail_{kNoSlot};
  /// Relaxed: the size decides when to open the next bag, nothing else.
  std::atomic<int64_t> count_{0};
};

}  // namespace pmcached::engine
