#pragma once

#include <cstdint>
#include <cstring>

#include "engine/background_thread.h"
#include "engine/index/hash_table.h"
#include "engine/item/hashed_key.h"
#include "engine/item/item_view.h"
#include "engine/item/population.h"
#include "engine/item/slot_table.h"
#include "engine/lru/bags.h"
#include "engine/slab/slab_allocator.h"
#include "pmem/persister.h"

namespace pmcached::engine {

/// Where keys, records and durability meet: finding an item, making a record the item of its key,
/// and retiring it.
///
/// Purpose: the one place that changes the index and the commit words, so that the invariants I1
/// (published only when durable) and I2 (retired durably before the stripe lock goes) are kept
/// here. Thread safety: find() from any thread without locks; everything else through class Locked,
/// which holds the stripe lock of its key. All inside an epoch turn. Ownership: borrows everything.
class ItemIndex {
 public:
  ItemIndex(const pmem::Persister& persister, HashTable& table, SlotTable& slots,
            SlabAllocator& allocator, Bags& bags, Population& population);

  /// Whom to wake when a bag is full or the table is crowded. To be called before the first
  /// publish(); both outlive every publisher.
  void set_background(BackgroundThread* cleaner, BackgroundThread* growth) {
    cleaner_ = cleaner;
    growth_ = growth;
  }

  /// The item of `key`, live or expired or flushed; kNoSlot if none.
  SlotReference find(const HashedKey& key) const {
    return table_.find(key.hash, [&](SlotReference slot) { return holds(slot, key.bytes); });
  }
  /// Whether the record in `slot` carries `key`.
  bool holds(SlotReference slot, std::string_view key) const {
    const RecordHeader& header = *slots_.header(slot);
    return key_length_of(header) == key.size() &&
           std::memcmp(&header + 1, key.data(), key.size()) == 0;
  }

  /// A key's stripe lock and what may be done under it.
  class Locked {
   public:
    Locked(ItemIndex& index, const HashedKey& key)
        : index_(index), key_(key), stripe_(index.table_, key.hash) {}

    /// The item of the key; remembered for publish() and retire().
    SlotReference find() {
      return found_ =
                 stripe_.find([&](SlotReference slot) { return index_.holds(slot, key_.bytes); });
    }
    /// Whether `slot` is the key's item; remembered likewise.
    bool find(SlotReference slot) {
      found_ = stripe_.find([&](SlotReference other) { return other == slot; });
      return found_ != kNoSlot;
    }
    /// Makes the sealed record in `slot` the item of the key, in place of the one found: retires
    /// that one, fences once for both, then publishes. Precondition: find() has been called.
    void publish(SlotReference slot, uint32_t now);
    /// Retires the item found, durably, and takes it out of the index.
    void retire();
    /// Gives the item found another expiry, durably: one atomic store of a field that the checksum
    /// leaves out.
    void change_expiry(uint32_t exptime);

   private:
    ItemIndex& index_;
    const HashedKey& key_;
    HashTable::Stripe stripe_;
    SlotReference found_ = kNoSlot;
  };

  /// Hands the slots of a retired item, chunks included, to the allocator. To be called once, after
  /// the lock under which it was retired.
  void reclaim(SlotReference slot);

  /// Removes the item in `slot`, if it still is one and `condition(slot)` holds under its lock: for
  /// eviction and cleaning. False if not.
  template <typename Condition>
  bool remove_if(SlotReference slot, Condition&& condition) {
    const HashedKey key = hash_key(ItemView(slots_, slot).key());
    {
      Locked locked(*this, key);
      if (!locked.find(slot) || !condition(slot)) {
        return false;
      }
      locked.retire();
    }
    reclaim(slot);
    return true;
  }
  bool remove(SlotReference slot) {
    return remove_if(slot, [](SlotReference) { return true; });
  }

 private:
  void store_retired(SlotReference slot);
  void count_added(const HashedKey& key, SlotReference slot);
  void count_removed(const HashedKey& key, SlotReference slot);

  const pmem::Persister& persister_;
  HashTable& table_;
  SlotTable& slots_;
  SlabAllocator& allocator_;
  Bags& bags_;
  Population& population_;
  BackgroundThread* cleaner_ = nullptr;
  BackgroundThread* growth_ = nullptr;
};

}  // namespace pmcached::engine
