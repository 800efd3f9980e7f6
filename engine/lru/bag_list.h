#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

#include "engine/item/slot_table.h"
#include "engine/lru/bag.h"
#include "pmem/mutex.h"

namespace pmcached::engine {

/// The bags of one size class, oldest to newest: the paper's bag LRU (sections 3.5.1 to 3.5.3).
///
/// Purpose: which item of the class to evict next, without a lock or an atomic read-modify-write on
/// a GET, which only notes time and newest bag in the slot's metadata (touch()).
/// Thread safety: touch() and insert() from any thread, inside an epoch turn; the functions marked
/// REQUIRES by the holder of mutex(), who is the consumer of all bags of the list.
/// Ownership: links slots, owns none.
///
/// Bags are numbered by a sequence that grows by one at each opening and is stored with 15 bits in
/// a slot's residence. They live in a ring of kRingSize, so there is nothing to free and nothing
/// that could be left dangling after a merge: a producer that comes late appends to whatever bag
/// has its place by then, which costs the item's position and nothing else.
///
///   oldest ............................. newest alternate, newest
///   evict and clean here                 touched items go here, new ones here
///
/// An item whose residence is newer than the bag it lies in was touched since: the consumer moves
/// it to the newest alternate, away from the contended newest bag, and lowers its residence to that
/// bag, unless a reader has touched it meanwhile. Nothing else about the item changes. Slots whose
/// items are gone stay linked until they are taken; a new item in such a slot has a new residence
/// and so counts as touched.
class BagList {
 public:
  static constexpr uint32_t kRingSize = 64;

  explicit BagList(const SlotTable& slots) : slots_(slots) {}

  /// Notes an access to the item that `meta` anchors. A plain relaxed store, and only when
  /// something changes, so that reads of one item do not contend on its line.
  void touch(SlotMeta& meta) const {
    const auto residence = static_cast<uint16_t>(newest_number() << 1 | kFetched);
    if (meta.residence.load(std::memory_order_relaxed) != residence) {
      meta.residence.store(residence, std::memory_order_relaxed);
    }
  }
  /// Notes that a new item begins, which `meta` will anchor.
  void start(SlotMeta& meta) const {
    meta.residence.store(static_cast<uint16_t>(newest_number() << 1), std::memory_order_relaxed);
  }
  static bool fetched(const SlotMeta& meta) {
    return (meta.residence.load(std::memory_order_relaxed) & kFetched) != 0;
  }

  /// Appends the anchor of an item to the newest bag, unless it is in a bag. True when that bag is
  /// full, so that the cleaner should open the next.
  bool insert(SlotReference slot);
  /// Appends a chain to the newest bag (see Bag::append_chain()).
  void insert_chain(SlotReference first, SlotReference last, uint32_t count);

  Mutex& mutex() PMCACHED_ATTRIBUTE(lock_returned(mutex_)) { return mutex_; }

  /// The live item to evict next, taken out of its bag: untouched, in the oldest bag that has one.
  /// Touched items met on the way move up. kNoSlot when `max_steps` slots were looked at in vain.
  SlotReference take_oldest(uint32_t max_steps) REQUIRES(mutex_);

  /// What the consumer does with a live item it meets while cleaning.
  enum class Verdict { kKeep, kDrop };
  using Judge = std::function<Verdict(SlotReference, SlotMeta&)>;
  /// Where a cleaning pass stands.
  struct Position {
    uint32_t bag = 0;  ///< sequence number
    bool started = false;
  };
  /// Passes over up to `max_slots` slots from `position` on, oldest first. Drops slots without
  /// items, moves touched items up, asks `judge` about the others; a slot judged kDrop is in no bag
  /// afterwards. True when the newest bag is passed: the next call starts over.
  /// Neutral: items keep their order, their access times and their pins.
  bool clean(Position* position, uint64_t max_slots, const Judge& judge) REQUIRES(mutex_);
  /// Takes every slot without an item out of all bags: before their metadata goes away.
  void drop_dead_slots() REQUIRES(mutex_);

  /// How many slots make a bag full. From one thread; relaxed, since it is a hint.
  void set_capacity(int64_t slots) { capacity_.store(slots, std::memory_order_relaxed); }
  /// Opens a new bag if the newest is full, or if `force` and the list is not empty; true if so. A
  /// full ring first merges its two oldest bags; empty oldest bags are dropped.
  bool open_bag_if_full(bool force) REQUIRES(mutex_);
  /// Whether nothing was ever inserted. Relaxed hint, any thread.
  bool idle() const { return idle_.load(std::memory_order_relaxed); }

  struct Statistics {
    uint32_t bags = 0;
    uint64_t moves = 0;
    uint64_t merges = 0;
    uint32_t oldest_access = 0;  ///< Unix second, of the item next in line; 0 = none
  };
  Statistics statistics() EXCLUDES(mutex_);

 private:
  static constexpr uint16_t kFetched = 1;
  static constexpr uint32_t kNumberMask = 0x7fff;
  static constexpr int64_t kFirstCapacity = 1024;

  uint32_t newest_number() const { return newest_.load(std::memory_order_relaxed) & kNumberMask; }
  Bag& bag(uint32_t sequence) { return ring_[sequence % kRingSize]; }
  const Bag& bag(uint32_t sequence) const { return ring_[sequence % kRingSize]; }
  bool touched_since(const SlotMeta& meta, uint32_t sequence) const;
  /// Moves a touched item that was just taken out of bag `from` to the newest alternate.
  void move_up(SlotReference slot, SlotMeta& meta, uint32_t from) REQUIRES(mutex_);
  bool claim(SlotMeta& meta);
  /// When the item that `slot` anchors was read last; 0 if it anchors none.
  uint32_t last_access(SlotReference slot) const REQUIRES(mutex_);
  void open_bag() REQUIRES(mutex_);
  void drop_empty_oldest() REQUIRES(mutex_);

  const SlotTable& slots_;
  Mutex mutex_;
  std::array<Bag, kRingSize> ring_;
  /// Sequence number of the newest bag. Relaxed: a stale value costs an item's position only.
  std::atomic<uint32_t> newest_{1};
  std::atomic<int64_t> capacity_{kFirstCapacity};
  std::atomic<bool> idle_{true};
  uint32_t oldest_ GUARDED_BY(mutex_) = 1;
  uint64_t moves_ GUARDED_BY(mutex_) = 0;
  uint64_t merges_ GUARDED_BY(mutex_) = 0;
};

}  // namespace pmcached::engine
