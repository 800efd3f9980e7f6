#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "engine/item/record_writer.h"
#include "engine/lru/evictor.h"
#include "engine/options.h"
#include "engine/session.h"
#include "engine/slab/rebalancer.h"
#include "engine/slab/slab_allocator.h"
#include "engine/slab/slab_pool.h"

namespace pmcached::engine {

/// Finds room for records, and makes it where there is none: waits for retired slots, evicts, and
/// as a last resort takes a slab from another size class.
///
/// Thread safety: all functions from any thread.
/// Ownership: borrows everything; what reserve() returns belongs to the caller, who publishes it or
/// gives it to abandon().
class SlotSupply {
 public:
  SlotSupply(const Options& options, const SlotTable& slots, SlabPool& pool,
             SlabAllocator& allocator, EpochRegistry& epochs, Evictor& evictor,
             Rebalancer& rebalancer)
      : options_(options),
        slots_(slots),
        pool_(pool),
        allocator_(allocator),
        epochs_(epochs),
        evictor_(evictor),
        rebalancer_(rebalancer) {}

  /// Whether a record of these lengths may be stored at all.
  bool fits(size_t key_length, uint64_t value_length) const;

  /// Room for a record that fits(). False when no room can be had. May end the session's views.
  bool reserve(Session& session, size_t key_length, uint32_t value_length, RecordPlace* place);
  /// Gives back what was never published.
  void abandon(const RecordPlace& place);

  /// Slots of the class asked for in vain; relaxed, for statistics.
  uint64_t out_of_memory(SizeClass size_class) const {
    return out_of_memory_[size_class].load(std::memory_order_relaxed);
  }
  void reset_counts(SizeClass size_class) {
    out_of_memory_[size_class].store(0, std::memory_order_relaxed);
  }

 private:
  SlotReference take_slot(Session& session, SizeClass size_class);
  /// Waits for retired slots of the class, if there are any.
  SlotReference await_retired(Session& session, SizeClass size_class);
  bool reserve_chunks(Session& session, uint32_t value_length, RecordPlace* place);
  uint16_t generation_of(SlotReference slot) const {
    return pool_.generation(SlotTable::slab_of(slot));
  }

  const Options& options_;
  const SlotTable& slots_;
  SlabPool& pool_;
  SlabAllocator& allocator_;
  EpochRegistry& epochs_;
  Evictor& evictor_;
  Rebalancer& rebalancer_;
  std::array<std::atomic<uint64_t>, pmem::kMaxSizeClasses> out_of_memory_{};
};

}  // namespace pmcached::engine
