#include <string_view>

#include "server/commands/statistics.h"

namespace pmcached::server {

void add_settings_stats(const CommandScope& scope, StatLines* lines) {
  const ServerSettings& settings = scope.server.settings;
  const PrefixStatistics& prefixes = scope.server.prefix_statistics;
  lines->add("maxbytes", settings.max_bytes);
  lines->add("maxconns", settings.max_connections);
  lines->add("tcpport", settings.tcp_port);
  lines->add("udpport", 0);
  lines->add_or("inter", settings.listen_addresses, "NULL");
  lines->add("verbosity", scope.server.verbosity.load(std::memory_order_relaxed));
  lines->add("oldest", 0);
  lines->add("evictions", settings.evictions ? "on" : "off");
  lines->add_or("domain_socket", settings.unix_socket, "NULL");
  lines->add("umask", fmt::format("{:o}", settings.unix_socket_mask));
  lines->add("shutdown_command", settings.shutdown_command);
  lines->add("growth_factor", fmt::format("{:.2f}", settings.growth_factor));
  lines->add("chunk_size", settings.chunk_size);
  lines->add("num_threads", settings.threads);
  lines->add("num_threads_per_udp", 0);
  lines->add("stat_key_prefix", settings.prefix_delimiter);
  lines->add("detail_enabled", prefixes.enabled());
  lines->add("reqs_per_event", settings.requests_per_event);
  lines->add("cas_enabled", settings.cas_enabled);
  lines->add("tcp_backlog", settings.tcp_backlog);
  lines->add("binding_protocol", "ascii");
  lines->add("auth_enabled_sasl", false);
  lines->add("auth_enabled_ascii", false);
  lines->add("item_size_max", settings.item_size_max);
  lines->add("maxconns_fast", settings.reject_at_limit);
  lines->add("flush_enabled", settings.flush_enabled);
  lines->add("dump_enabled", false);
  lines->add("hash_algorithm", "xxh3");
  lines->add("lru_maintainer_thread", true);
  lines->add("lru_segmented", false);
  lines->add("track_sizes", true);
  lines->add("ssl_enabled", false);
  lines->add_or("memory_file", settings.memory_file, "(null)");
  lines->add("lock_memory", settings.lock_memory);
  lines->add_or("pool_description", settings.pool_description, "none");
  lines->add("survives_power_loss", settings.survives_power_loss);
  lines->add_or("last_run", settings.last_run, "none");
}

}  // namespace pmcached::server
