#include "engine/slot_supply.h"

#include <algorithm>

#include "engine/reclaim/grace_period.h"

namespace pmcached::engine {
namespace {

/// Items evicted at once, when their slots are small: the wait for readers is shared by all.
constexpr uint32_t kEvictionBatch = 32;
constexpr uint32_t kEvictionBatchBytes = 64 * 1024;
/// Rounds of eviction before a store is refused, and before another class is asked for a slab.
constexpr int kEvictionRounds = 64;
constexpr int kLostRounds = 2;

}  // namespace

bool SlotSupply::fits(size_t key_length, uint64_t value_length) const {
  return RecordWriter::inline_bytes(key_length, value_length) <= options_.item_size_max_bytes;
}

bool SlotSupply::reserve(Session& session, size_t key_length, uint32_t value_length,
                         RecordPlace* place) {
  uint64_t bytes = RecordWriter::inline_bytes(key_length, value_length);
  if (bytes > slots_.classes().largest_slot_bytes()) {
    if (!reserve_chunks(session, value_length, place)) {
      abandon(*place);
      return false;
    }
    bytes = RecordWriter::chunked_bytes(key_length, place->chunks.size());
  }
  place->slot = take_slot(session, slots_.classes().class_for(bytes));
  if (place->slot == kNoSlot) {
    abandon(*place);
    return false;
  }
  place->generation = generation_of(place->slot);
  return true;
}

void SlotSupply::abandon(const RecordPlace& place) {
  for (const RecordPlace::Chunk& chunk : place.chunks) {
    allocator_.abandon(chunk.slot);
  }
  if (place.slot != kNoSlot) {
    allocator_.abandon(place.slot);
  }
}

bool SlotSupply::reserve_chunks(Session& session, uint32_t value_length, RecordPlace* place) {
  const SizeClasses& classes = slots_.classes();
  const uint32_t capacity = chunk_capacity(classes);
  for (uint32_t left = value_length; left > 0; left -= std::min(left, capacity)) {
    const SlotReference slot = take_slot(
        session, classes.class_for(std::min(left, capacity) + uint64_t{kChunkHeaderBytes}));
    if (slot == kNoSlot) {
      return false;
    }
    place->chunks.push_back({.slot = slot, .generation = generation_of(slot)});
  }
  return true;
}

SlotReference SlotSupply::take_slot(Session& session, SizeClass size_class) {
  SlotReference slot = allocator_.allocate(size_class);
  const uint32_t batch =
      std::clamp(kEvictionBatchBytes / slots_.classes().slot_bytes(size_class), 1U, kEvictionBatch);
  for (int round = 0; round < kEvictionRounds && slot == kNoSlot; ++round) {
    slot = await_retired(session, size_class);
    if (slot != kNoSlot || !options_.evict_to_free) {
      break;
    }
    // Rounds are lost when other threads take what this one has evicted: then the class is
    // contended, and another slab helps all of them.
    const bool contended = round >= kLostRounds;
    // A slab that another class keeps empty comes before anything is evicted.
    const bool helped = (contended || allocator_.unused_slabs() > 0) &&
                        rebalancer_.free_a_slab(session, size_class);
    if (!helped && evictor_.evict(size_class, batch) == 0 &&
        !rebalancer_.free_a_slab(session, size_class) &&
        allocator_.usage(size_class).waiting_slots == 0) {
      break;
    }
    slot = await_retired(session, size_class);
  }
  if (slot == kNoSlot) {
    out_of_memory_[size_class].fetch_add(1, std::memory_order_relaxed);
  }
  return slot;
}

SlotReference SlotSupply::await_retired(Session& session, SizeClass size_class) {
  SlotReference slot = kNoSlot;
  await_grace_period(epochs_, session.participant(), [&] {
    slot = allocator_.allocate(size_class);
    return slot != kNoSlot || allocator_.usage(size_class).waiting_slots == 0;
  });
  return slot;
}

}  // namespace pmcached::engine
