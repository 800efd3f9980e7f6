#pragma once

#include <deque>

#include "engine/item/slot_table.h"
#include "engine/lru/bag_list.h"

namespace pmcached::engine {

/// The bag lists of all size classes.
class Bags {
 public:
  explicit Bags(const SlotTable& slots) : slots_(slots) {
    for (uint32_t i = 0; i < slots.classes().count(); ++i) {
      lists_.emplace_back(slots);
    }
  }

  BagList& of(SizeClass size_class) { return lists_[size_class]; }
  /// The list for the item in `slot`, whose link word is `link`. A chunked item belongs to the list
  /// of the largest class, where its first chunk is: evicting it makes room there.
  BagList& home_of(SlotReference slot, uint64_t link) {
    return (link & SlotMeta::kChunked) != 0 ? lists_.back() : lists_[slots_.class_of(slot)];
  }

 private:
  const SlotTable& slots_;
  std::deque<BagList> lists_;
};

}  // namespace pmcached::engine
