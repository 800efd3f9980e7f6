#pragma once

#include <atomic>
#include <cstdint>

#include "engine/item/item_layout.h"

namespace pmcached::engine {

/// One cache line of the hash table: seven entries and a link to an overflow bucket.
///
/// An entry is 0 when empty, else
///
///   63                40 39                             0
///   +-------------------+--------------------------------+
///   | tag (hash bits)   | slot reference                 |
///   +-------------------+--------------------------------+
///
/// The tag is the hash bits just above those that index the smallest table. As the table grows, its
/// low bits become index bits: an entry finds its new bucket without a look at the item.
struct alignas(64) Bucket {
  static constexpr int kEntries = 7;

  /// Stored with release under the stripe lock; loaded with acquire by readers without a lock, so a
  /// reader that sees an entry sees the record it refers to.
  std::atomic<uint64_t> entries[kEntries];
  /// Set with release when the seven entries overflow, cut with release when a split has emptied
  /// the buckets behind; readers acquire.
  std::atomic<Bucket*> overflow;
};
static_assert(sizeof(Bucket) == 64);

inline constexpr int kTagBits = 64 - kSlotReferenceBits;

constexpr SlotReference slot_of(uint64_t entry) {
  return entry & ((uint64_t{1} << kSlotReferenceBits) - 1);
}
constexpr uint64_t tag_of(uint64_t entry) {
  return entry >> kSlotReferenceBits;
}

}  // namespace pmcached::engine
