#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "engine/item/item_layout.h"
#include "engine/item/slot_table.h"

namespace pmcached::engine {

/// Bytes of value that a full chunk holds; every chunk of an item but the last is full.
uint32_t chunk_capacity(const SizeClasses& classes);
/// Number of chunks a large item's value takes.
uint32_t chunks_for(const SizeClasses& classes, uint32_t value_length);

/// A live item as a reader sees it: a reference, not a copy.
///
/// Purpose: lets a reply be built straight from the pool.
/// Thread safety: belongs to the session that got it; the bytes are immutable while it is valid,
/// except the expiry, which is read once.
/// Validity: see Cache, "Views".
class ItemView {
 public:
  ItemView() = default;
  ItemView(const SlotTable& slots, SlotReference slot)
      : slots_(&slots), slot_(slot), header_(slots.header(slot)) {}

  std::string_view key() const {
    return {reinterpret_cast<const char*>(header_ + 1), key_length_of(*header_)};
  }
  uint64_t client_flags() const { return header_->client_flags; }
  uint64_t cas() const { return header_->cas; }
  uint32_t exptime() const { return load_exptime(*header_); }
  /// Length of the value in bytes.
  uint32_t size() const { return header_->value_length; }

  /// Number of contiguous runs the value lies in: 1, or the number of chunks of a large item.
  uint32_t segment_count() const;
  /// Run `index` of the value. Precondition: index < segment_count().
  std::string_view segment(uint32_t index) const;
  /// The slots of a large item's chunks, in order. Precondition: index < segment_count(), and the
  /// item is chunked.
  SlotReference chunk(uint32_t index) const;
  bool chunked() const { return is_chunked(*header_); }
  /// The slot that stands for this item in the bags (see SlotMeta).
  SlotReference anchor() const { return chunked() ? chunk(0) : slot_; }

  SlotReference slot() const { return slot_; }

 private:
  const SlotTable* slots_ = nullptr;
  SlotReference slot_ = kNoSlot;
  const RecordHeader* header_ = nullptr;
};

/// Keeps one item's memory from being reused, for replies that are still being sent from the pool.
///
/// Thread safety: like a value; may be destroyed in any thread.
/// Ownership: must be gone before the cache is destroyed.
class Pin {
 public:
  Pin() = default;
  /// Empty when the item has as many pins already as can be counted.
  /// Precondition: inside the turn in which the item was found, so that its slot cannot have been
  /// given to another item.
  explicit Pin(SlotMeta* meta);
  ~Pin() { release(); }
  Pin(Pin&& other) noexcept : meta_(std::exchange(other.meta_, nullptr)) {}
  Pin& operator=(Pin&& other) noexcept {
    if (this != &other) {
      release();
      meta_ = std::exchange(other.meta_, nullptr);
    }
    return *this;
  }

  explicit operator bool() const { return meta_ != nullptr; }

 private:
  void release();
  SlotMeta* meta_ = nullptr;
};

}  // namespace pmcached::engine
