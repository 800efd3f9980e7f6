#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/index/bucket.h"
#include "engine/index/overflow_buckets.h"
#include "engine/virtual_array.h"
#include "pmem/mutex.h"

namespace pmcached::engine {

/// The index: from a key's hash to the slot of its item, in DRAM, rebuilt at every start.
///
/// Purpose: a reader takes no lock and touches one cache line; writers of different stripes do not
/// meet; the table grows a bucket at a time and never stops for it.
/// Thread safety: find() and prefetch functions from any thread inside an epoch turn; everything
/// else under the stripe lock of the hash (class Stripe).
/// Ownership: owns its buckets, not the items. Knows nothing of keys: callers say which slot
/// matches. Failure: the constructor throws std::bad_alloc without address space; growing never
/// fails.
///
/// How it grows: linear hashing (Litwin 1980) instead of the paper's doubling (section 3.4.1). With
/// n buckets and m = bit_ceil(n), a hash belongs to bucket h mod m, or h mod m/2 where that does
/// not exist yet. split_next() adds bucket n by dividing bucket n - m/2, so the load stays even,
/// DRAM per item stays level, and there is no second table.
///
/// Why no reader misses a present key:
///  - an overwrite replaces the entry in place, by one store;
///  - a split copies entries to the new bucket, then publishes the new bucket count, then clears
///  the
///    old entries; then it fills the holes from the end of the old chain in the same way: copy,
///    publish, clear. What it publishes is the table's shape. A reader that no longer finds an
///    entry where it was has acquired one of the clearing stores, so it also sees the new shape,
///    and find() looks again.
class HashTable {
 public:
  static constexpr uint32_t kStripes = 1024;
  /// Items a bucket on average: at 6 of 7 entries, an item costs 13.4 to 14 bytes of DRAM, by how
  /// far the present doubling has got, and one hit in seven takes a second line.
  static constexpr uint64_t kLoad = 6;

  /// A table of 2^`initial_power` buckets (at least kStripes) that can grow to hold `max_items`.
  HashTable(uint32_t initial_power, uint64_t max_items);

  /// The slot whose tag fits `hash` and for which `matches(slot)` is true, or kNoSlot.
  template <typename Matches>
  SlotReference find(uint64_t hash, Matches&& matches) const {
    // Acquire pairs with the release stores of split_next().
    uint64_t shape = shape_.load(std::memory_order_acquire);
    for (;;) {
      const uint64_t bucket = index_of(hash, buckets_of(shape));
      if (const Found found = find_in(bucket, tag_for(hash), matches); found.entry != nullptr) {
        return slot_of(found.value);
      }
      const uint64_t now = shape_.load(std::memory_order_acquire);
      if (now == shape) {
        return kNoSlot;
      }
      shape = now;
    }
  }

  void prefetch_bucket(uint64_t hash) const {
    __builtin_prefetch(&buckets_.data()[index_of(hash, bucket_count())]);
  }
  /// Fetches what a Stripe of this hash will store to.
  void prefetch_for_store(uint64_t hash) const {
    __builtin_prefetch(&stripes_[hash % kStripes], 1);
    __builtin_prefetch(&buckets_.data()[index_of(hash, bucket_count())], 1);
  }
  /// The first slot whose tag fits, for prefetching; kNoSlot if none. May be another key's.
  SlotReference guess(uint64_t hash) const;

  /// The lock of one stripe, and what may be done under it. Third in the lock order.
  class Stripe {
   public:
    Stripe(HashTable& table, uint64_t hash);
    ~Stripe();
    Stripe(const Stripe&) = delete;
    Stripe& operator=(const Stripe&) = delete;

    /// As HashTable::find(), and remembers the entry for replace() and erase().
    template <typename Matches>
    SlotReference find(Matches&& matches) {
      const Found found = table_.find_in(bucket_, table_.tag_for(hash_), matches);
      found_ = found.entry;
      return found_ != nullptr ? slot_of(found.value) : kNoSlot;
    }
    /// Points the entry found last to `slot`, by one store.
    void replace(SlotReference slot);
    /// Empties the entry found last.
    void erase();
    /// Adds an entry. Precondition: find() found none. True when the stripe holds so much more than
    /// its share that the table should grow.
    bool insert(SlotReference slot);

   private:
    HashTable& table_;
    uint64_t hash_;
    uint64_t bucket_;
    std::atomic<uint64_t>* found_ = nullptr;
  };

  /// Items in the table; exact when no stripe is locked.
  uint64_t size() const;
  /// Relaxed: exact for the thread that grows the table and under the lock of a stripe.
  uint64_t bucket_count() const { return buckets_of(shape_.load(std::memory_order_relaxed)); }
  uint64_t memory_bytes() const;
  /// Adds buckets until the load is kLoad, or the table has its greatest size. From one thread;
  /// takes one stripe lock at a time, each for the length of one chain.
  void grow();
  /// Whether grow() is at work. Relaxed, for statistics.
  bool is_growing() const { return growing_.load(std::memory_order_relaxed); }
  /// Adds one bucket; false at the greatest size. From one thread.
  bool split_next();
  /// Grows at once to fit `items`. Precondition: the table is empty and not shared yet.
  void presize(uint64_t items);

  /// Calls `visit(slot)` for every entry of buckets [first, last), without locks: entries that
  /// come, go or are split off meanwhile may be missed or met twice.
  template <typename Visit>
  void for_each(uint64_t first, uint64_t last, Visit&& visit) const {
    last = std::min(last, buckets_of(shape_.load(std::memory_order_acquire)));
    for (uint64_t index = first; index < last; ++index) {
      for (const Bucket* bucket = &buckets_.data()[index]; bucket != nullptr;
           bucket = bucket->overflow.load(std::memory_order_acquire)) {
        for (const std::atomic<uint64_t>& entry : bucket->entries) {
          if (const uint64_t value = entry.load(std::memory_order_acquire); value != 0) {
            visit(slot_of(value));
          }
        }
      }
    }
  }

 private:
  struct alignas(64) StripeState {
    Mutex mutex;
    /// Relaxed; changed under the mutex only.
    std::atomic<uint64_t> items{0};
  };

  struct Found {
    std::atomic<uint64_t>* entry = nullptr;
    uint64_t value = 0;
  };

  /// The shape is the number of buckets, doubled, plus 1 once the chain divided last is closed up.
  static uint64_t buckets_of(uint64_t shape) { return shape >> 1; }
  static uint64_t shape_with(uint64_t buckets) { return buckets << 1; }
  static constexpr uint64_t kClosedUp = 1;

  static uint64_t index_of(uint64_t hash, uint64_t bucket_count) {
    const uint64_t span = std::bit_ceil(bucket_count);
    const uint64_t index = hash & (span - 1);
    return index < bucket_count ? index : index - span / 2;
  }
  template <typename Matches>
  Found find_in(uint64_t bucket_index, uint64_t tag, Matches&& matches) const {
    for (Bucket* bucket = &buckets_.data()[bucket_index]; bucket != nullptr;
         bucket = bucket->overflow.load(std::memory_order_acquire)) {
      for (std::atomic<uint64_t>& entry : bucket->entries) {
        const uint64_t value = entry.load(std::memory_order_acquire);
        if (value != 0 && tag_of(value) == tag && matches(slot_of(value))) {
          return {&entry, value};
        }
      }
    }
    return {};
  }
  uint64_t tag_for(uint64_t hash) const {
    return (hash >> initial_power_) & ((uint64_t{1} << kTagBits) - 1);
  }
  static uint64_t make_entry(uint64_t tag, SlotReference slot) {
    return tag << kSlotReferenceBits | slot;
  }
  /// Stores `entry` into the first empty place of the chain. Precondition: stripe locked.
  void place(uint64_t bucket_index, uint64_t entry);
  /// Moves the last entries of a chain into its holes and gives back the buckets that this empties.
  /// Precondition: stripe locked, from the thread that splits.
  void close_up(uint64_t bucket_index);
  StripeState& stripe_of(uint64_t hash) { return stripes_[hash % kStripes]; }

  uint32_t initial_power_;
  uint64_t max_buckets_;
  VirtualArray<Bucket> buckets_;
  OverflowBuckets overflow_;
  /// Stored with release by split_next(), after copies of entries and before the originals are
  /// cleared. Only ever grows.
  std::atomic<uint64_t> shape_;
  std::unique_ptr<StripeState[]> stripes_;
  std::atomic<bool> growing_{false};
};

}  // namespace pmcached::engine
