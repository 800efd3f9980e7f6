#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/item/slot_table.h"
#include "pmem/mutex.h"
#include "pmem/region.h"

namespace pmcached::engine {

/// The slabs that belong to no size class, and the durable act of giving one to a class.
///
/// Purpose: carve() and give_back() keep the slab directory, the slot words and the slot table in
/// step, in an order that no cut can turn into a misread slot.
/// Thread safety: all functions from any thread.
/// Ownership: borrows region and slot table.
/// Failure: carve() returns nothing when no slab is free.
class SlabPool {
 public:
  SlabPool(pmem::Region& region, SlotTable& slots);

  /// Adds a slab that recovery found free. Its directory entry stays as it is.
  void add_free(uint32_t slab);

  /// Takes a free slab for `size_class` and attaches its slots. Steps, each durable before the
  /// next:
  ///  1. the first word of every slot of the new geometry becomes 0, so nothing a client wrote
  ///  there
  ///     under an older geometry can be read as a record;
  ///  2. the directory word becomes (assigned, class, generation + 1): the commit point.
  /// A cut before 2 leaves a free slab.
  std::optional<uint32_t> carve(SizeClass size_class);

  /// Takes an empty slab back. Precondition: no slot of it is in use, in a bag or visible to a
  /// turn. The directory word becomes (free, -, same generation): the commit point.
  void give_back(uint32_t slab);

  uint16_t generation(uint32_t slab) const { return generations_[slab]; }
  uint64_t free_count() const;
  /// Slabs of the region, free or not.
  uint64_t total() const { return total_; }

  /// For recovery: what the directory says of the slab's generation.
  void set_generation(uint32_t slab, uint16_t generation) { generations_[slab] = generation; }

 private:
  pmem::Region& region_;
  SlotTable& slots_;
  uint64_t total_ = 0;
  mutable Mutex mutex_;
  std::vector<uint32_t> free_ GUARDED_BY(mutex_);
  /// By slab number. Changes only while the slab has no slots, so users of slots need no lock.
  std::vector<uint16_t> generations_;
};

}  // namespace pmcached::engine
