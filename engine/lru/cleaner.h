#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "engine/clock.h"
#include "engine/flush_epoch.h"
#include "engine/item_index.h"
#include "engine/lru/bags.h"
#include "engine/lru/evictor.h"
#include "engine/options.h"
#include "engine/session.h"
#include "engine/slab/slab_allocator.h"
#include "engine/slab/slab_pool.h"

namespace pmcached::engine {

/// The paper's cleaner (section 3.5.3): opens and merges bags, moves touched items up, removes
/// expired and flushed ones, and keeps a few slots of a full class free, so that stores seldom have
/// to wait for an eviction.
///
/// Thread safety: run_once() from one thread; counters from any.
/// Ownership: borrows everything.
/// Bounded: an expired item is removed within kFullPassSeconds and a pass's length, read or not.
class Cleaner {
 public:
  static constexpr uint32_t kFullPassSeconds = 60;

  Cleaner(const Options& options, const Clock& clock, const FlushEpoch& flush,
          const SlotTable& slots, SlabPool& pool, SlabAllocator& allocator, EpochRegistry& epochs,
          ItemIndex& items, Bags& bags, Evictor& evictor)
      : options_(options),
        clock_(clock),
        flush_(flush),
        slots_(slots),
        pool_(pool),
        allocator_(allocator),
        epochs_(epochs),
        items_(items),
        bags_(bags),
        evictor_(evictor),
        classes_(slots.classes().count()) {}

  /// One round over all classes: milliseconds of work at most, in short turns.
  void run_once(Session& session);

  struct ClassCounts {
    std::atomic<uint64_t> reclaimed{0};
    std::atomic<uint64_t> expired_unfetched{0};
  };
  /// Relaxed counters, for statistics.
  const ClassCounts& counts(SizeClass size_class) const { return counts_[size_class]; }
  void reset_counts(SizeClass size_class);

 private:
  struct ClassState {
    BagList::Position position;
    uint64_t flush_seen = 0;     ///< flush epoch at the start of the pass
    uint64_t flush_cleaned = 0;  ///< flush epoch that a whole pass has looked at
    uint32_t last_second = 0;    ///< when cleaning last went on
    uint32_t last_opening = 0;   ///< when a bag was last opened
  };

  void open_bags(SizeClass size_class);
  void keep_reserve(Session& session, SizeClass size_class);
  void clean(Session& session, SizeClass size_class);
  /// Whether the item in `slot` has expired or was flushed.
  bool is_dead(SlotReference slot) const;

  const Options& options_;
  const Clock& clock_;
  const FlushEpoch& flush_;
  const SlotTable& slots_;
  SlabPool& pool_;
  SlabAllocator& allocator_;
  EpochRegistry& epochs_;
  ItemIndex& items_;
  Bags& bags_;
  Evictor& evictor_;
  std::vector<ClassState> classes_;
  std::array<ClassCounts, pmem::kMaxSizeClasses> counts_;
};

}  // namespace pmcached::engine
