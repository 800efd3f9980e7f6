#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "pmem/pool_layout.h"

namespace pmcached::engine {

/// A counter that one thread writes and any thread reads. Relaxed on both sides: a statistic
/// orders nothing. add() is a load and a store, not a read-modify-write, since the writer is alone.
class Counter {
 public:
  void add(uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  uint64_t get() const { return value_.load(std::memory_order_relaxed); }
  void reset() { value_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

/// What one session did to items of one size class (memcached's per-slab thread statistics).
struct ClassCounters {
  Counter get_hits;
  Counter set_cmds;  ///< stores taken, of any mode
  Counter delete_hits;
  Counter incr_hits;
  Counter decr_hits;
  Counter cas_hits;
  Counter cas_badval;
  Counter touch_hits;
};

/// What one session did. Commands are counted where the engine decides them, so that every
/// protocol counts alike.
struct SessionCounters {
  Counter get_cmds;  ///< keys asked for
  Counter get_misses;
  Counter get_expired;  ///< misses because the item had expired
  Counter get_flushed;  ///< misses because the item was flushed
  Counter touch_cmds;   ///< touch and get-and-touch
  Counter touch_misses;
  Counter set_cmds;  ///< stores whose value arrived, of any mode, taken or refused
  Counter delete_misses;
  Counter incr_misses;
  Counter decr_misses;
  Counter cas_misses;
  Counter flush_cmds;
  Counter store_too_large;
  Counter store_no_memory;
  std::array<ClassCounters, pmem::kMaxSizeClasses> by_class;
};

/// Totals over all sessions and the state of one size class.
struct ClassStats {
  uint32_t slot_bytes = 0;
  uint32_t slots_per_slab = 0;
  uint64_t slabs = 0;
  uint64_t total_slots = 0;
  uint64_t used_slots = 0;
  uint64_t free_slots = 0;
  uint64_t items = 0;        ///< records, not chunks
  uint64_t item_bytes = 0;   ///< header, key and value of those records
  uint64_t age_seconds = 0;  ///< since the last access of the item next in line for eviction
  uint64_t evicted = 0;
  uint64_t evicted_nonzero = 0;  ///< had a TTL
  uint64_t evicted_unfetched = 0;
  uint64_t evicted_time = 0;  ///< seconds since the last access of the item evicted last
  uint64_t expired_unfetched = 0;
  uint64_t reclaimed = 0;  ///< expired or flushed items removed by the cleaner
  uint64_t out_of_memory = 0;
  uint64_t bags = 0;
  uint64_t bag_moves = 0;
  uint64_t bag_merges = 0;
  // From the sessions' ClassCounters:
  uint64_t get_hits = 0, set_cmds = 0, delete_hits = 0, incr_hits = 0, decr_hits = 0;
  uint64_t cas_hits = 0, cas_badval = 0, touch_hits = 0;
};

/// A snapshot of the whole cache; the parts are read one after the other, not at one instant.
struct CacheStats {
  uint64_t get_cmds = 0, get_hits = 0, get_misses = 0, get_expired = 0, get_flushed = 0;
  uint64_t touch_cmds = 0, touch_hits = 0, touch_misses = 0;
  uint64_t set_cmds = 0, flush_cmds = 0;
  uint64_t delete_hits = 0, delete_misses = 0;
  uint64_t incr_hits = 0, incr_misses = 0, decr_hits = 0, decr_misses = 0;
  uint64_t cas_hits = 0, cas_misses = 0, cas_badval = 0;
  uint64_t store_too_large = 0, store_no_memory = 0;
  uint64_t evictions = 0, reclaimed = 0, expired_unfetched = 0, evicted_unfetched = 0;
  uint64_t slab_moves = 0;

  uint64_t curr_items = 0;
  uint64_t total_items = 0;  ///< stored since this process started
  uint64_t bytes = 0;        ///< header, key and value of all items
  uint64_t limit_bytes = 0;  ///< of the region
  uint64_t total_slabs = 0;  ///< assigned to a class
  uint64_t free_slabs = 0;
  uint64_t hash_buckets = 0;
  uint64_t hash_bytes = 0;          ///< DRAM of the hash table
  bool hash_growing = false;        ///< buckets are being added
  uint64_t metadata_bytes = 0;      ///< DRAM of the slot metadata
  std::vector<ClassStats> classes;  ///< by size class, all of them
};

/// What recovery found, for one line in the log and for statistics.
struct RecoveryReport {
  uint64_t items = 0;
  uint64_t bytes = 0;
  uint64_t slabs = 0;
  uint64_t expired = 0;          ///< recovered, but past their time
  uint64_t flushed = 0;          ///< left out: a flush_all covers them
  uint64_t superseded = 0;       ///< older record of a key that has a newer one
  uint64_t damaged_records = 0;  ///< slots whose contents failed their checks and were dropped
  uint64_t damaged_slabs = 0;    ///< both directory words bad: dropped whole
  uint32_t threads = 0;
  double seconds = 0;
  bool discarded = false;  ///< power loss without DAX: everything was left out
};

}  // namespace pmcached::engine
