#pragma once

#include <cstdint>
#include <string>

namespace pmcached::server {

/// What the server was started with, as `stats settings` shows it. Filled once, from the options,
/// before the first connection; read-only afterwards.
struct ServerSettings {
  uint64_t max_bytes = uint64_t{64} << 20;     ///< -m
  uint32_t max_connections = 1024;             ///< -c
  uint16_t tcp_port = 11211;                   ///< -p; 0 = no TCP
  std::string listen_addresses;                ///< -l; empty = all
  std::string unix_socket;                     ///< -s; empty = none
  uint32_t unix_socket_mask = 0700;            ///< -a
  int verbosity = 0;                           ///< -v, at the start
  bool evictions = true;                       ///< false = -M
  double growth_factor = 1.25;                 ///< -f
  uint32_t chunk_size = 48;                    ///< -n
  uint32_t threads = 4;                        ///< -t
  char prefix_delimiter = ':';                 ///< -D
  bool detail_enabled = false;                 ///< -D was given
  int requests_per_event = 20;                 ///< -R
  bool cas_enabled = true;                     ///< false = -C
  int tcp_backlog = 1024;                      ///< -b
  bool reject_at_limit = true;                 ///< false = -o no_maxconns_fast
  uint64_t item_size_max = uint64_t{1} << 20;  ///< -I
  bool flush_enabled = true;                   ///< false = -F
  bool shutdown_command = false;               ///< -A
  bool lock_memory = false;                    ///< -k

  std::string memory_file;           ///< -e; empty = volatile
  std::string pool_description;      ///< pmem::Region::description()
  bool survives_power_loss = false;  ///< pmem::Region::survives_power_loss()
  std::string last_run;              ///< "none", "clean", "crash" or "power loss"
};

}  // namespace pmcached::server
