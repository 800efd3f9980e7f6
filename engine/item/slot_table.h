#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/item/item_layout.h"
#include "engine/slab/size_class.h"
#include "engine/virtual_array.h"
#include "pmem/region.h"

namespace pmcached::engine {

/// What DRAM knows of a slot. The states and who moves between them:
///
///   kFree --allocate--> kReserved --publish--> kLive  --retire--> kRetired      --safe--> kFree
///                           |     \-publish--> kChunk --retire--> kRetiredChunk --safe--> kFree
///                           \--abandon--> kFree
///
/// "Safe": after an epoch grace period and without pins.
enum class SlotState : uint8_t { kFree, kReserved, kLive, kChunk, kRetired, kRetiredChunk };

/// Everything that changes when an item is read or moves between bags: 16 bytes a slot, in DRAM.
///
/// `link` packs, so that bag membership and state change together in one atomic step:
///
///   63      46   45     44       43     41    40     39                    0
///   +--------+-------+----------+--------+--------+------------------------+
///   | unused | timed | anchor   | state  | in bag | next slot in the bag   |
///   +--------+-------+----------+--------+--------+------------------------+
///
/// The anchor of an item is the slot that stands for it in the bags: its record's slot, or, if the
/// value is in chunks, the first chunk's, since evicting the item is to make room there. A chunk
/// slot has no access time and no pins of its own; there it keeps the record that owns it.
struct SlotMeta {
  static constexpr uint64_t kNextMask = (uint64_t{1} << kSlotReferenceBits) - 1;
  static constexpr uint64_t kInBag = uint64_t{1} << 40;
  static constexpr int kStateShift = 41;
  static constexpr uint64_t kStateMask = uint64_t{7} << kStateShift;
  static constexpr uint64_t kAnchor = uint64_t{1} << 44;
  static constexpr uint64_t kTimed = uint64_t{1} << 45;  ///< has had an expiry
  static_assert(kSlotReferenceBits == 40);

  std::atomic<uint64_t> link;
  /// Unix second of the last access. Relaxed: a hint for eviction and statistics.
  std::atomic<uint32_t> last_access;
  /// Bag that was the newest at the last access (15 bits), shifted up by one; the low bit says that
  /// the item was read since it was stored. Relaxed: a hint for the cleaner.
  std::atomic<uint16_t> residence;
  /// Replies that are still sending this item from the pool.
  std::atomic<uint16_t> pins;

  static SlotState state_of(uint64_t link_word) {
    return static_cast<SlotState>((link_word & kStateMask) >> kStateShift);
  }
  static constexpr uint64_t state_bits(SlotState state) {
    return static_cast<uint64_t>(state) << kStateShift;
  }

  /// Acquire: pairs with the release of the update() that set the state, so a slot seen kLive has
  /// its record in place.
  SlotState state() const { return state_of(link.load(std::memory_order_acquire)); }

  /// Clears and sets bits of `link` in one step; returns the word before. Acquire and release: the
  /// word hands slots from one thread to the next in both directions.
  uint64_t update(uint64_t clear, uint64_t set) {
    uint64_t before = link.load(std::memory_order_relaxed);
    while (!link.compare_exchange_weak(before, (before & ~clear) | set, std::memory_order_acq_rel,
                                       std::memory_order_relaxed)) {
    }
    return before;
  }
  /// A new state of the same item.
  uint64_t set_state(SlotState state) { return update(kStateMask, state_bits(state)); }
  /// A new life: the state, and the item's traits (kAnchor, kTimed) instead of the earlier one's.
  uint64_t begin(SlotState state, uint64_t traits) {
    return update(kStateMask | kAnchor | kTimed, state_bits(state) | traits);
  }
  /// Whether a slot with this link word stands for an item in the bags.
  static bool anchors_item(uint64_t link_word) {
    const SlotState state = state_of(link_word);
    return (link_word & kAnchor) != 0 && (state == SlotState::kLive || state == SlotState::kChunk);
  }

  /// Relaxed: set before, and read after, the state becomes kChunk.
  void set_owner(SlotReference owner) {
    last_access.store(static_cast<uint32_t>(owner), std::memory_order_relaxed);
    pins.store(static_cast<uint16_t>(owner >> 32), std::memory_order_relaxed);
  }
  SlotReference owner() const {
    return uint64_t{pins.load(std::memory_order_relaxed)} << 32 |
           last_access.load(std::memory_order_relaxed);
  }
};
static_assert(sizeof(SlotMeta) == 16);

/// From a slot reference to its bytes in the region and its metadata in DRAM.
///
/// Purpose: address arithmetic, in one place. No table stands between a reference and its bytes;
/// the way to the metadata costs one byte of DRAM a slab.
/// Thread safety: const functions from any thread. attach() and detach() of a slab exclude every
/// use of its slots; the slab allocator sees to it.
/// Ownership: owns the metadata, borrows the region and the size classes.
class SlotTable {
 public:
  SlotTable(const pmem::Region& region, const SizeClasses& classes);

  static uint32_t slab_of(SlotReference slot) {
    return static_cast<uint32_t>(slot / pmem::kLinesPerSlab);
  }
  SlotReference slot_at(uint32_t slab, SizeClass size_class, uint32_t index) const {
    return uint64_t{slab} * pmem::kLinesPerSlab + uint64_t{index} * classes_.slot_lines(size_class);
  }
  std::byte* address(SlotReference slot) const { return base_ + slot * pmem::kLineSize; }
  RecordHeader* header(SlotReference slot) const {
    return reinterpret_cast<RecordHeader*>(address(slot));
  }
  uint64_t& word(SlotReference slot) const { return *reinterpret_cast<uint64_t*>(address(slot)); }

  /// The class a slab is carved into, or kNoSizeClass. Relaxed: a slab's class changes only while
  /// none of its slots can be referred to.
  SizeClass class_of_slab(uint32_t slab) const {
    return slab_class_[slab].load(std::memory_order_relaxed);
  }
  SizeClass class_of(SlotReference slot) const { return class_of_slab(slab_of(slot)); }
  SlotMeta& meta(SlotReference slot) const { return meta_of(slot, class_of(slot)); }
  /// As meta(), but null when the slab is not carved: for references whose slab may have gone.
  SlotMeta* find_meta(SlotReference slot) const {
    const SizeClass size_class = class_of(slot);
    return size_class == kNoSizeClass ? nullptr : &meta_of(slot, size_class);
  }
  /// The record of the item that `anchor` stands for.
  SlotReference record_of(SlotReference anchor) const {
    const SlotMeta& anchor_meta = meta(anchor);
    return anchor_meta.state() == SlotState::kChunk ? anchor_meta.owner() : anchor;
  }
  /// Whether `slot` is the beginning of a slot of a carved slab: the check for references that were
  /// read from the pool.
  bool is_slot(SlotReference slot) const;

  /// Gives the slab's slots metadata: all kFree, in no bag.
  void attach(uint32_t slab, SizeClass size_class);
  /// Gives the metadata's memory back.
  void detach(uint32_t slab);

  const SizeClasses& classes() const { return classes_; }
  const std::byte* base() const { return base_; }
  uint32_t slab_limit() const { return static_cast<uint32_t>(slab_class_.size()); }

 private:
  SlotMeta& meta_of(SlotReference slot, SizeClass size_class) const {
    return meta_
        .data()[uint64_t{slab_of(slot)} * pmem::kLinesPerSlab +
                classes_.slot_index(size_class, static_cast<uint32_t>(slot % pmem::kLinesPerSlab))];
  }

  std::byte* base_;
  const SizeClasses& classes_;
  std::vector<std::atomic<SizeClass>> slab_class_;
  /// Address space for the smallest possible slots in every slab; only what attach() hands out is
  /// ever touched, so DRAM is used for real slots only.
  VirtualArray<SlotMeta> meta_;
};

}  // namespace pmcached::engine
