#include "engine/item/item_view.h"

#include <algorithm>
#include <cstring>

namespace pmcached::engine {

uint32_t chunk_capacity(const SizeClasses& classes) {
  return classes.largest_slot_bytes() - kChunkHeaderBytes;
}

uint32_t chunks_for(const SizeClasses& classes, uint32_t value_length) {
  const uint32_t capacity = chunk_capacity(classes);
  return value_length / capacity + (value_length % capacity != 0 ? 1 : 0);
}

uint32_t ItemView::segment_count() const {
  return chunked() ? chunks_for(slots_->classes(), size()) : 1;
}

std::string_view ItemView::segment(uint32_t index) const {
  const auto* after_key = reinterpret_cast<const char*>(header_ + 1) + key_length_of(*header_);
  if (!chunked()) {
    return {after_key, size()};
  }
  const uint32_t capacity = chunk_capacity(slots_->classes());
  const auto* bytes = reinterpret_cast<const char*>(slots_->address(chunk(index)));
  return {bytes + kChunkHeaderBytes, std::min(capacity, size() - index * capacity)};
}

SlotReference ItemView::chunk(uint32_t index) const {
  const auto* list = reinterpret_cast<const char*>(header_ + 1) + key_length_of(*header_);
  SlotReference slot = kNoSlot;
  std::memcpy(&slot, list + size_t{index} * kChunkListEntryBytes, sizeof slot);
  return slot;
}

Pin::Pin(SlotMeta* meta) : meta_(meta) {
  // Far enough below the greatest number that no crowd of threads can pass it between the two
  // steps.
  constexpr uint16_t kMaxPins = 0xf000;
  // Relaxed: the turn keeps the slot for now, and leaving the turn is a release that the reclaimer
  // acquires before it looks at the pins.
  if (meta_->pins.fetch_add(1, std::memory_order_relaxed) >= kMaxPins) {
    release();
  }
}

void Pin::release() {
  if (meta_ != nullptr) {
    // Release: the last read of the item comes before; SlabAllocator's check of pins acquires.
    meta_->pins.fetch_sub(1, std::memory_order_release);
    meta_ = nullptr;
  }
}

}  // namespace pmcached::engine
