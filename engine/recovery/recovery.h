#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "engine/index/hash_table.h"
#include "engine/item/item_view.h"
#include "engine/item/population.h"
#include "engine/item/slot_table.h"
#include "engine/lru/bags.h"
#include "engine/options.h"
#include "engine/recovery/record_check.h"
#include "engine/slab/slab_allocator.h"
#include "engine/slab/slab_pool.h"
#include "engine/stats.h"
#include "pmem/mutex.h"
#include "pmem/region.h"

namespace pmcached::engine {

/// Rebuilds everything in DRAM from the slabs of a region: index, slot metadata, free slots, bags.
///
/// Purpose: the cache as it was, after a clean stop, a crash or a power cut, read once by all
/// cores. How: (1) the slab directory says which slabs are carved, and how; (2) threads take slabs
/// one by one, check their slots, and enter records into the presized index; of two records of a
/// key the higher CAS number wins and the other is retired durably; (3) chunks are handed to the
/// records that own them; (4) what is left over is free. Thread safety: run() once, before anybody
/// else uses the parts; it uses threads of its own. Ownership: borrows everything. Failure: none.
/// What does not verify is left out and counted; a cut during recovery leaves the pool as valid as
/// before, since all it ever stores is retirements and directory repairs.
class Recovery {
 public:
  struct Parts {
    const Options& options;
    pmem::Region& region;
    SlotTable& slots;
    SlabPool& pool;
    SlabAllocator& allocator;
    HashTable& table;
    Bags& bags;
    Population& population;
  };

  Recovery(const Parts& parts, uint32_t now, uint64_t flush_epoch);

  RecoveryReport run();
  /// The highest CAS number met; after run().
  uint64_t highest_cas() const { return highest_cas_.load(std::memory_order_relaxed); }

 private:
  /// What one thread found.
  struct Tally {
    RecoveryReport report;
    std::vector<SlotReference> losers;   ///< older records of keys that have newer ones
    std::vector<SlotReference> chunked;  ///< records with chunks
    uint64_t highest_cas = 0;
    Population::Share share;  ///< what entered the index less what left it
  };
  /// A record between its check and its entry into the index.
  struct Candidate {
    SlotReference slot = kNoSlot;
    uint64_t hash = 0;
  };

  void read_directory(RecoveryReport* report);
  void scan(Tally* tally);
  void scan_slab(uint32_t slab, const RecordCheck& check, Tally* tally);
  /// `chain`: the items of this slab that enter the bags together.
  void enter(const Candidate& candidate, Tally* tally, Bags::Chain* chain);
  void retire(SlotReference slot);
  /// Once all records are known: makes live items of those in chunks.
  void admit_chunked(const std::vector<SlotReference>& chunked, RecoveryReport* report);
  /// Takes a record out of the index whose chunks turned out to belong to another.
  void drop(SlotReference slot, RecoveryReport* report);
  bool is_expired(const ItemView& item) const;
  uint32_t thread_count() const;

  Parts parts_;
  uint32_t now_;
  uint64_t flush_epoch_;
  std::vector<uint32_t> carved_;
  /// Next entry of carved_ to scan. Relaxed: only distributes work.
  std::atomic<size_t> next_slab_{0};
  std::atomic<uint64_t> highest_cas_{0};
};

}  // namespace pmcached::engine
