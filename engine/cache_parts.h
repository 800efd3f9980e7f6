#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "engine/background_thread.h"
#include "engine/cache.h"
#include "engine/cas_sequence.h"
#include "engine/flush_epoch.h"
#include "engine/index/hash_table.h"
#include "engine/item/slot_table.h"
#include "engine/item_index.h"
#include "engine/lru/bags.h"
#include "engine/lru/cleaner.h"
#include "engine/lru/evictor.h"
#include "engine/recovery/recovery.h"
#include "engine/session_registry.h"
#include "engine/slab/rebalancer.h"
#include "engine/slab/slab_allocator.h"
#include "engine/slab/slab_pool.h"
#include "engine/slot_supply.h"
#include "engine/store_engine.h"

namespace pmcached::engine {

/// The parts in the order of their dependencies: built top to bottom, torn down bottom to top.
struct Cache::Parts {
  Parts(const Options& wanted, pmem::Region& memory, ClockSource clock_source)
      : options(wanted),
        region(memory),
        clock(std::move(clock_source), static_cast<int64_t>(memory.run_state().get().wall_clock)),
        classes(memory.slot_lines()),
        slots(memory, classes),
        pool(memory, slots),
        allocator(slots, pool, epochs),
        table(wanted.initial_hash_power, greatest_item_count(memory)),
        bags(slots),
        items(memory.persister(), table, slots, allocator, bags, population),
        evictor(clock, slots, items, bags),
        rebalancer(slots, pool, allocator, epochs, items, bags),
        supply(options, slots, pool, allocator, epochs, evictor, rebalancer) {}

  void recover();
  void start();

  /// Items the region could hold if all were of the smallest class.
  static uint64_t greatest_item_count(const pmem::Region& region);

  const Options options;
  pmem::Region& region;
  Clock clock;
  SizeClasses classes;
  EpochRegistry epochs;
  SessionRegistry sessions;
  SlotTable slots;
  SlabPool pool;
  SlabAllocator allocator;
  HashTable table;
  Bags bags;
  Population population;
  ItemIndex items;
  Evictor evictor;
  Rebalancer rebalancer;
  SlotSupply supply;
  RecoveryReport report;
  // Made when recovery has found where CAS numbers resume:
  std::optional<CasSequence> cas;
  std::optional<FlushEpoch> flush;
  std::optional<StoreEngine> stores;
  std::optional<Cleaner> cleaner;
  std::optional<Session> cleaner_session;
  std::optional<BackgroundThread> cleaner_thread;
  std::optional<BackgroundThread> growth_thread;
};

}  // namespace pmcached::engine
