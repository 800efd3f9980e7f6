#include <cstdint>
#include <string_view>

#include "server/commands/statistics.h"

namespace pmcached::server {
namespace {

/// The lines of one size class.
class ClassLines {
 public:
  /// `group` goes in front of the number: "items:" or nothing.
  ClassLines(std::string_view group, uint64_t number, StatLines* lines)
      : group_(group), number_(number), lines_(lines) {}

  void add(std::string_view name, uint64_t value) { lines_->add_of(group_, number_, name, value); }

 private:
  std::string_view group_;
  uint64_t number_;
  StatLines* lines_;
};

/// All of a class's items count as cold: the bags keep no segments of the kind.
void add_items_of_class(const engine::ClassStats& stats, ClassLines lines) {
  lines.add("number", stats.items);
  lines.add("number_hot", 0);
  lines.add("number_warm", 0);
  lines.add("number_cold", stats.items);
  lines.add("age_hot", 0);
  lines.add("age_warm", 0);
  lines.add("age", stats.age_seconds);
  lines.add("mem_requested", stats.item_bytes);
  lines.add("evicted", stats.evicted);
  lines.add("evicted_nonzero", stats.evicted_nonzero);
  lines.add("evicted_time", stats.evicted_time);
  lines.add("outofmemory", stats.out_of_memory);
  lines.add("tailrepairs", 0);
  lines.add("reclaimed", stats.reclaimed);
  lines.add("expired_unfetched", stats.expired_unfetched);
  lines.add("evicted_unfetched", stats.evicted_unfetched);
  lines.add("evicted_active", 0);
  lines.add("crawler_reclaimed", 0);
  lines.add("crawler_items_checked", 0);
  lines.add("lrutail_reflocked", 0);
  lines.add("moves_to_cold", 0);
  lines.add("moves_to_warm", 0);
  lines.add("moves_within_lru", stats.bag_moves);
  lines.add("direct_reclaims", 0);
  lines.add("hits_to_hot", 0);
  lines.add("hits_to_warm", 0);
  lines.add("hits_to_cold", stats.get_hits);
  lines.add("hits_to_temp", 0);
  lines.add("bags", stats.bags);
  lines.add("bag_merges", stats.bag_merges);
}

void add_slabs_of_class(const engine::ClassStats& stats, ClassLines lines) {
  lines.add("chunk_size", stats.slot_bytes);
  lines.add("chunks_per_page", stats.slots_per_slab);
  lines.add("total_pages", stats.slabs);
  lines.add("total_chunks", stats.total_slots);
  lines.add("used_chunks", stats.used_slots);
  lines.add("free_chunks", stats.free_slots);
  lines.add("free_chunks_end", 0);
  lines.add("get_hits", stats.get_hits);
  lines.add("cmd_set", stats.set_cmds);
  lines.add("delete_hits", stats.delete_hits);
  lines.add("incr_hits", stats.incr_hits);
  lines.add("decr_hits", stats.decr_hits);
  lines.add("cas_hits", stats.cas_hits);
  lines.add("cas_badval", stats.cas_badval);
  lines.add("touch_hits", stats.touch_hits);
}

}  // namespace

void add_item_stats(const CommandScope& scope, StatLines* lines) {
  uint64_t number = 0;
  const engine::CacheStats totals = scope.cache().stats();
  for (const engine::ClassStats& stats : totals.classes) {
    ++number;
    if (stats.items != 0) {
      add_items_of_class(stats, ClassLines("items:", number, lines));
    }
  }
}

void add_slab_stats(const CommandScope& scope, StatLines* lines) {
  uint64_t number = 0;
  uint64_t active = 0;
  uint64_t slabs = 0;
  const engine::CacheStats totals = scope.cache().stats();
  for (const engine::ClassStats& stats : totals.classes) {
    ++number;
    if (stats.slabs != 0) {
      add_slabs_of_class(stats, ClassLines("", number, lines));
      ++active;
      slabs += stats.slabs;
    }
  }
  lines->add("active_slabs", active);
  lines->add("total_malloced", slabs * pmem::kSlabSize);
}

}  // namespace pmcached::server
