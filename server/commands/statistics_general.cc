#include <sys/resource.h>
#include <sys/time.h>

#include <bit>
#include <cstdint>
#include <string>

#include "server/commands/statistics.h"

namespace pmcached::server {
namespace {

std::string seconds(const timeval& time) {
  return fmt::format("{}.{:06}", time.tv_sec, time.tv_usec);
}

void add_process(const CommandScope& scope, StatLines* lines) {
  const engine::Clock& clock = scope.cache().clock();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  lines->add("pid", scope.server.pid);
  lines->add("uptime", clock.now() - clock.started());
  lines->add("time", clock.now());
  lines->add("version", scope.server.version);
  lines->add("libevent", scope.server.libevent_version);
  lines->add("pointer_size", 8 * sizeof(void*));
  lines->add("rusage_user", seconds(usage.ru_utime));
  lines->add("rusage_system", seconds(usage.ru_stime));
}

void add_connections(const CommandScope& scope, const ConnectionTotals& totals, StatLines* lines) {
  lines->add("max_connections", scope.server.settings.max_connections);
  lines->add("curr_connections", totals.current);
  lines->add("total_connections", totals.total);
  lines->add("rejected_connections", totals.rejected);
  lines->add("connection_structures", totals.structures);
  lines->add("response_obj_oom", 0);
  lines->add("response_obj_count", 0);
  lines->add("response_obj_bytes", 0);
  lines->add("read_buf_count", totals.read_buffers);
  lines->add("read_buf_bytes", totals.read_buffer_bytes);
  lines->add("read_buf_bytes_free", 0);
  lines->add("read_buf_oom", 0);
  lines->add("reserved_fds", totals.reserved_fds);
}

void add_commands(const engine::CacheStats& stats, StatLines* lines) {
  lines->add("cmd_get", stats.get_cmds);
  lines->add("cmd_set", stats.set_cmds);
  lines->add("cmd_flush", stats.flush_cmds);
  lines->add("cmd_touch", stats.touch_cmds);
  lines->add("cmd_meta", 0);
  lines->add("get_hits", stats.get_hits);
  lines->add("get_misses", stats.get_misses);
  lines->add("get_expired", stats.get_expired);
  lines->add("get_flushed", stats.get_flushed);
  lines->add("delete_misses", stats.delete_misses);
  lines->add("delete_hits", stats.delete_hits);
  lines->add("incr_misses", stats.incr_misses);
  lines->add("incr_hits", stats.incr_hits);
  lines->add("decr_misses", stats.decr_misses);
  lines->add("decr_hits", stats.decr_hits);
  lines->add("cas_misses", stats.cas_misses);
  lines->add("cas_hits", stats.cas_hits);
  lines->add("cas_badval", stats.cas_badval);
  lines->add("touch_hits", stats.touch_hits);
  lines->add("touch_misses", stats.touch_misses);
  lines->add("store_too_large", stats.store_too_large);
  lines->add("store_no_memory", stats.store_no_memory);
  lines->add("auth_cmds", 0);
  lines->add("auth_errors", 0);
}

void add_traffic(const CommandScope& scope, const ConnectionTotals& totals,
                 const engine::CacheStats& stats, StatLines* lines) {
  lines->add("bytes_read", totals.bytes_read);
  lines->add("bytes_written", totals.bytes_written);
  lines->add("limit_maxbytes", stats.limit_bytes);
  lines->add("accepting_conns", totals.accepting ? 1 : 0);
  lines->add("listen_disabled_num", totals.listen_disabled);
  lines->add("time_in_listen_disabled_us", totals.listen_disabled_micros);
  lines->add("threads", scope.server.settings.threads);
  lines->add("conn_yields", totals.yields);
}

void add_background_work(const engine::CacheStats& stats, StatLines* lines) {
  const auto hash_power = std::bit_width(stats.hash_buckets | 1) - 1;
  lines->add("hash_power_level", hash_power);
  lines->add("hash_bytes", stats.hash_bytes);
  lines->add("hash_is_expanding", stats.hash_growing ? 1 : 0);
  lines->add("slab_reassign_rescues", 0);
  lines->add("slab_reassign_chunk_rescues", 0);
  lines->add("slab_reassign_evictions_nomem", 0);
  lines->add("slab_reassign_inline_reclaim", 0);
  lines->add("slab_reassign_busy_items", 0);
  lines->add("slab_reassign_busy_deletes", 0);
  lines->add("slab_reassign_running", 0);
  lines->add("slabs_moved", stats.slab_moves);
  lines->add("lru_crawler_running", 0);
  lines->add("lru_crawler_starts", 0);
  lines->add("lru_maintainer_juggles", 0);
  lines->add("malloc_fails", 0);
  lines->add("log_worker_dropped", 0);
  lines->add("log_worker_written", 0);
  lines->add("log_watcher_skipped", 0);
  lines->add("log_watcher_sent", 0);
  lines->add("log_watchers", 0);
  lines->add("unexpected_napi_ids", 0);
  lines->add("round_robin_fallback", 0);
}

void add_items(const engine::CacheStats& stats, StatLines* lines) {
  lines->add("bytes", stats.bytes);
  lines->add("curr_items", stats.curr_items);
  lines->add("total_items", stats.total_items);
  lines->add("slab_global_page_pool", stats.free_slabs);
  lines->add("expired_unfetched", stats.expired_unfetched);
  lines->add("evicted_unfetched", stats.evicted_unfetched);
  lines->add("evicted_active", 0);
  lines->add("evictions", stats.evictions);
  lines->add("reclaimed", stats.reclaimed);
  lines->add("crawler_reclaimed", 0);
  lines->add("crawler_items_checked", 0);
  lines->add("lrutail_reflocked", 0);
  lines->add("moves_to_cold", 0);
  lines->add("moves_to_warm", 0);
  lines->add("moves_within_lru", 0);
  lines->add("direct_reclaims", 0);
  lines->add("lru_bumps_dropped", 0);
}

/// What memcached has no name for.
void add_own(const engine::CacheStats& stats, const engine::RecoveryReport& recovery,
             StatLines* lines) {
  lines->add("slabs_total", stats.total_slabs + stats.free_slabs);
  lines->add("slabs_assigned", stats.total_slabs);
  lines->add("slot_metadata_bytes", stats.metadata_bytes);
  lines->add("recovered_items", recovery.items);
  lines->add("recovered_bytes", recovery.bytes);
  lines->add("recovered_expired", recovery.expired);
  lines->add("recovery_flushed", recovery.flushed);
  lines->add("recovery_superseded", recovery.superseded);
  lines->add("recovery_damaged_records", recovery.damaged_records);
  lines->add("recovery_damaged_slabs", recovery.damaged_slabs);
  lines->add("recovery_discarded", recovery.discarded);
  lines->add("recovery_threads", recovery.threads);
  lines->add("recovery_seconds", fmt::format("{:.6f}", recovery.seconds));
}

}  // namespace

void add_general_stats(const CommandScope& scope, StatLines* lines) {
  const ConnectionTotals totals = scope.server.connection_totals();
  const engine::CacheStats stats = scope.cache().stats();
  add_process(scope, lines);
  add_connections(scope, totals, lines);
  add_commands(stats, lines);
  add_traffic(scope, totals, stats, lines);
  add_background_work(stats, lines);
  add_items(stats, lines);
  add_own(stats, scope.cache().recovery(), lines);
}

}  // namespace pmcached::server
