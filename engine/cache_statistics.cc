#include <algorithm>

#include "engine/cache_parts.h"

namespace pmcached::engine {
namespace {

/// What the bags, the allocator, the evictor and the cleaner know of one class.
void describe_class(Cache::Parts& parts, SizeClass size_class, ClassStats* stats) {
  const SizeClasses& classes = parts.classes;
  const SlabAllocator::ClassUsage usage = parts.allocator.usage(size_class);
  const BagList::Statistics bags = parts.bags.of(size_class).statistics();
  const Evictor::ClassCounts& evictor = parts.evictor.counts(size_class);
  const Cleaner::ClassCounts& cleaner = parts.cleaner->counts(size_class);
  stats->slot_bytes = classes.slot_bytes(size_class);
  stats->slots_per_slab = classes.slots_per_slab(size_class);
  stats->slabs = usage.slabs;
  stats->total_slots = usage.slabs * stats->slots_per_slab;
  stats->free_slots = std::min(usage.free_slots, stats->total_slots);
  stats->used_slots = stats->total_slots - stats->free_slots;
  stats->items = parts.population.items(size_class);
  stats->item_bytes = parts.population.bytes(size_class);
  const uint32_t now = parts.clock.now();
  stats->age_seconds = bags.oldest_access == 0 ? 0 : now - std::min(now, bags.oldest_access);
  stats->bags = bags.bags;
  stats->bag_moves = bags.moves;
  stats->bag_merges = bags.merges;
  stats->evicted = evictor.evicted.load(std::memory_order_relaxed);
  stats->evicted_nonzero = evictor.evicted_nonzero.load(std::memory_order_relaxed);
  stats->evicted_unfetched = evictor.evicted_unfetched.load(std::memory_order_relaxed);
  stats->evicted_time = evictor.evicted_time.load(std::memory_order_relaxed);
  stats->out_of_memory = parts.supply.out_of_memory(size_class);
  stats->reclaimed = cleaner.reclaimed.load(std::memory_order_relaxed);
  stats->expired_unfetched = cleaner.expired_unfetched.load(std::memory_order_relaxed);
}

}  // namespace

CacheStats Cache::stats() const {
  CacheStats stats;
  stats.classes.resize(parts_->classes.count());
  parts_->sessions.sum_into(&stats);
  for (uint32_t i = 0; i < parts_->classes.count(); ++i) {
    ClassStats& of_class = stats.classes[i];
    describe_class(*parts_, static_cast<SizeClass>(i), &of_class);
    stats.evictions += of_class.evicted;
    stats.reclaimed += of_class.reclaimed;
    stats.evicted_unfetched += of_class.evicted_unfetched;
    stats.expired_unfetched += of_class.expired_unfetched;
    stats.total_slabs += of_class.slabs;
    stats.curr_items += of_class.items;
    stats.bytes += of_class.item_bytes;
    stats.metadata_bytes += of_class.total_slots * sizeof(SlotMeta);
  }
  stats.slab_moves = parts_->rebalancer.moves();
  stats.evictions += parts_->rebalancer.evictions();
  stats.limit_bytes = parts_->region.bytes();
  stats.free_slabs = parts_->pool.free_count();
  stats.hash_buckets = parts_->table.bucket_count();
  stats.hash_bytes = parts_->table.memory_bytes();
  stats.hash_growing = parts_->table.is_growing();
  return stats;
}

void Cache::reset_stats() {
  parts_->sessions.reset();
  parts_->rebalancer.reset_counts();
  for (uint32_t i = 0; i < parts_->classes.count(); ++i) {
    const auto size_class = static_cast<SizeClass>(i);
    parts_->evictor.reset_counts(size_class);
    parts_->cleaner->reset_counts(size_class);
    parts_->supply.reset_counts(size_class);
  }
}

std::vector<std::pair<uint32_t, uint64_t>> Cache::item_sizes(Session& session) const {
  constexpr uint64_t kStep = 32;
  std::vector<uint64_t> counts;
  // Quiescent now and then, so that nobody waits long for the end of this turn.
  constexpr uint64_t kTurnBuckets = 1024;
  for (uint64_t first = 0; first < parts_->table.bucket_count(); first += kTurnBuckets) {
    session.participant().quiesce();
    parts_->table.for_each(first, first + kTurnBuckets, [&](SlotReference slot) {
      const ItemView item(parts_->slots, slot);
      const uint64_t bytes = RecordWriter::inline_bytes(item.key().size(), item.size());
      const uint64_t step = (bytes + kStep - 1) / kStep;
      counts.resize(std::max<size_t>(counts.size(), step + 1));
      ++counts[step];
    });
  }
  std::vector<std::pair<uint32_t, uint64_t>> sizes;
  for (size_t step = 0; step < counts.size(); ++step) {
    if (counts[step] != 0) {
      sizes.emplace_back(static_cast<uint32_t>(step * kStep), counts[step]);
    }
  }
  return sizes;
}

}  // namespace pmcached::engine
