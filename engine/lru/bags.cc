#include "engine/lru/bags.h"

namespace pmcached::engine {

Bags::Bags(const SlotTable& slots) : slots_(slots) {
  for (uint32_t i = 0; i < slots.classes().count(); ++i) {
    lists_.push_back(std::make_unique<BagList>(slots));
  }
}

bool Bags::admit(SlotReference slot, uint32_t now) {
  const ItemView item(slots_, slot);
  const SlotReference anchor = item.anchor();
  SlotMeta& meta = slots_.meta(slot);
  SlotMeta& anchor_meta = slots_.meta(anchor);
  BagList& list = of(slots_.class_of(anchor));
  const uint64_t traits = SlotMeta::kAnchor | (item.exptime() != 0 ? SlotMeta::kTimed : 0);

  meta.last_access.store(now, std::memory_order_relaxed);
  list.start(anchor_meta);
  if (item.chunked()) {
    meta.begin(SlotState::kLive, 0);
    for (uint32_t i = 0; i < item.segment_count(); ++i) {
      SlotMeta& chunk = slots_.meta(item.chunk(i));
      chunk.set_owner(slot);
      chunk.begin(SlotState::kChunk, i == 0 ? traits : 0);
    }
  } else {
    meta.begin(SlotState::kLive, traits);
  }
  // A slot that still lies in a bag from an earlier item stays there: its residence is new.
  return list.insert(anchor);
}

void Bags::prepare(SlotReference slot, uint32_t now, Chain* chain) {
  SlotMeta& meta = slots_.meta(slot);
  const uint64_t timed = ItemView(slots_, slot).exptime() != 0 ? SlotMeta::kTimed : 0;
  meta.last_access.store(now, std::memory_order_relaxed);
  of(slots_.class_of(slot)).start(meta);
  // Relaxed, here and below: appending the chain publishes it.
  meta.link.store(
      SlotMeta::state_bits(SlotState::kLive) | SlotMeta::kAnchor | SlotMeta::kInBag | timed,
      std::memory_order_relaxed);
  if (chain->count == 0) {
    chain->first = slot;
  } else {
    std::atomic<uint64_t>& last = slots_.meta(chain->last).link;
    last.store(last.load(std::memory_order_relaxed) | slot, std::memory_order_relaxed);
  }
  chain->last = slot;
  ++chain->count;
}

void Bags::admit(const Chain& chain) {
  if (chain.count != 0) {
    of(slots_.class_of(chain.first)).insert_chain(chain.first, chain.last, chain.count);
  }
}

}  // namespace pmcached::engine
