#pragma once

#include <memory>
#include <vector>

#include "engine/item/item_view.h"
#include "engine/item/slot_table.h"
#include "engine/lru/bag_list.h"

namespace pmcached::engine {

/// The bag lists of all size classes, and the way of an item into and through them.
///
/// Purpose: which list an item belongs to: that of its anchor's class.
/// Thread safety: as BagList.
class Bags {
 public:
  explicit Bags(const SlotTable& slots);

  BagList& of(SizeClass size_class) { return *lists_[size_class]; }

  /// Makes the record in `slot` a live item: states and owners of its slots, access time, place in
  /// the newest bag. True when that bag is full, so that the cleaner should open the next.
  /// Precondition: the record's bytes are in place, its slots are the caller's.
  bool admit(SlotReference slot, uint32_t now);

  /// Items of one class on their way into the bags together.
  struct Chain {
    SlotReference first = kNoSlot;
    SlotReference last = kNoSlot;
    uint32_t count = 0;
  };
  /// As admit(), but the item waits in `chain`: for recovery, whose threads would otherwise meet at
  /// every item in the newest bag. Preconditions: the value is not in chunks; no other thread uses
  /// the slot's link; all items of a chain are of one class.
  void prepare(SlotReference slot, uint32_t now, Chain* chain);
  /// Puts the items of a chain into the newest bag.
  void admit(const Chain& chain);

  /// Notes a read. No lock and no read-modify-write; stores only what changes.
  void note_access(const ItemView& item, uint32_t now) {
    SlotMeta& meta = slots_.meta(item.slot());
    if (meta.last_access.load(std::memory_order_relaxed) != now) {
      meta.last_access.store(now, std::memory_order_relaxed);
    }
    const SlotReference anchor = item.anchor();
    of(slots_.class_of(anchor)).touch(slots_.meta(anchor));
  }

 private:
  const SlotTable& slots_;
  std::vector<std::unique_ptr<BagList>> lists_;
};

}  // namespace pmcached::engine
