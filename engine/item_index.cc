#include "engine/item_index.h"

namespace pmcached::engine {

ItemIndex::ItemIndex(const pmem::Persister& persister, HashTable& table, SlotTable& slots,
                     SlabAllocator& allocator, Bags& bags, Population& population)
    : persister_(persister),
      table_(table),
      slots_(slots),
      allocator_(allocator),
      bags_(bags),
      population_(population) {}

void ItemIndex::Locked::publish(SlotReference slot, uint32_t now) {
  if (found_ != kNoSlot) {
    index_.store_retired(found_);
  }
  index_.persister_.fence();
  index_.count_added(key_, slot);
  if (found_ != kNoSlot) {
    index_.count_removed(key_, found_);
    stripe_.replace(slot);
  } else if (stripe_.insert(slot)) {
    index_.growth_->wake();
  }
  if (index_.bags_.admit(slot, now)) {
    index_.cleaner_->wake();
  }
}

void ItemIndex::Locked::retire() {
  index_.store_retired(found_);
  index_.persister_.fence();
  index_.count_removed(key_, found_);
  stripe_.erase();
}

void ItemIndex::Locked::change_expiry(uint32_t exptime) {
  if (exptime != 0) {
    const SlotReference anchor = ItemView(index_.slots_, found_).anchor();
    index_.slots_.meta(anchor).update(0, SlotMeta::kTimed);
  }
  uint32_t& field = index_.slots_.header(found_)->exptime;
  std::atomic_ref<uint32_t>(field).store(exptime, std::memory_order_relaxed);
  index_.persister_.persist(&field, sizeof field);
}

void ItemIndex::store_retired(SlotReference slot) {
  uint64_t& word = slots_.word(slot);
  std::atomic_ref<uint64_t>(word).store(retired(word), std::memory_order_relaxed);
  persister_.flush(&word, sizeof word);
}

void ItemIndex::count_added(const HashedKey& key, SlotReference slot) {
  population_.add(key.hash, slots_.class_of(slot), ItemView(slots_, slot));
}

void ItemIndex::count_removed(const HashedKey& key, SlotReference slot) {
  population_.remove(key.hash, slots_.class_of(slot), ItemView(slots_, slot));
}

void ItemIndex::reclaim(SlotReference slot) {
  const ItemView item(slots_, slot);
  if (item.chunked()) {
    for (uint32_t i = 0; i < item.segment_count(); ++i) {
      allocator_.retire(item.chunk(i));
    }
  }
  allocator_.retire(slot);
}

}  // namespace pmcached::engine
