#pragma once

#include <cstdint>

#include "engine/item/slot_table.h"
#include "engine/slab/slab_pool.h"

namespace pmcached::engine {

/// Decides whether what stands in a slot is a record. Trusts no field before it has checked it:
/// lengths are held against the slot, chunk references against the slot table, every slot's word
/// against its slab's generation, and the whole record against its checksum.
///
/// Thread safety: reads only; any number of threads.
/// Precondition: every slab that the directory assigns is attached, its generation set.
class RecordCheck {
 public:
  RecordCheck(const SlotTable& slots, const SlabPool& pool, uint32_t checksum_seed)
      : slots_(slots), pool_(pool), checksum_seed_(checksum_seed) {}

  enum class Finding {
    kNoRecord,  ///< free, retired, a chunk, or never used
    kWhole,
    kDamaged,  ///< claims to be a record and is not
  };
  Finding look_at(SlotReference slot) const;

 private:
  bool lengths_fit(SlotReference slot) const;
  bool chunks_fit(SlotReference slot) const;
  bool checksum_matches(SlotReference slot) const;
  bool has_current_generation(SlotReference slot) const;

  const SlotTable& slots_;
  const SlabPool& pool_;
  uint32_t checksum_seed_;
};

}  // namespace pmcached::engine
