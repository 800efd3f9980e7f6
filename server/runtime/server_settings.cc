#include "server/runtime/server_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>

#include "server/runtime/recovery_summary.h"

namespace pmcached::server {
namespace {

constexpr int kAnyFreePort = -1;

}  // namespace

Status bind_sockets(const Options& options, std::vector<ListeningSocket>* sockets) {
  if (!options.unix_socket.empty()) {
    return ListeningSocket::bind_unix(options.unix_socket, options.unix_socket_mode, sockets);
  }
  const auto port = static_cast<uint16_t>(options.tcp_port == kAnyFreePort ? 0 : options.tcp_port);
  if (options.listen_on.empty()) {
    return ListeningSocket::bind_tcp({}, port, sockets);
  }
  for (const std::string& entry : options.listen_on) {
    const std::optional<ListenSpec> spec = parse_listen_spec(entry);
    if (!spec) {
      return {
          Status::Code::kInvalid,
          fmt::format("-l,--listen: must be HOST, HOST:PORT or [IPV6]:PORT, not \"{}\"", entry)};
    }
    if (Status status = ListeningSocket::bind_tcp(*spec, port, sockets); !status.ok()) {
      return status;
    }
  }
  return {};
}

ServerSettings make_settings(const Options& options, const std::vector<ListeningSocket>& sockets,
                             const pmem::Region& region) {
  ServerSettings settings;
  settings.max_bytes = region.bytes();
  settings.max_connections = options.max_connections;
  settings.tcp_port = sockets.empty() ? uint16_t{0} : sockets.front().address().port();
  settings.listen_addresses = fmt::to_string(fmt::join(options.listen_on, ","));
  settings.unix_socket = options.unix_socket;
  settings.unix_socket_mask = options.unix_socket_mode;
  settings.verbosity = options.verbosity;
  settings.evictions = options.evictions;
  settings.growth_factor = options.growth_factor;
  settings.chunk_size = options.min_space;
  settings.threads = options.threads;
  settings.prefix_delimiter = options.prefix_delimiter;
  settings.detail_enabled = options.detail_enabled;
  settings.requests_per_event = options.requests_per_event;
  settings.cas_enabled = options.cas_enabled;
  settings.tcp_backlog = options.listen_backlog;
  settings.reject_at_limit = options.reject_at_limit;
  settings.item_size_max = options.item_size_max;
  settings.flush_enabled = options.flush_enabled;
  settings.shutdown_command = options.shutdown_command;
  settings.lock_memory = options.lock_memory;
  settings.memory_file = options.memory_file;
  settings.pool_description = region.description();
  settings.survives_power_loss = region.survives_power_loss();
  settings.last_run = name_of(region.last_run());
  return settings;
}

}  // namespace pmcached::server
