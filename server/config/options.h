#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pmcached::server {

/// Everything the command line and the environment can say, checked. Names, meanings and defaults
/// are memcached's where it has the option; sizes are in bytes.
struct Options {
  // Network
  int tcp_port = 11211;                ///< -p; 0 = no TCP, -1 = one that is free
  std::string unix_socket;             ///< -s; given, it replaces TCP
  uint32_t unix_socket_mode = 0700;    ///< -a
  std::vector<std::string> listen_on;  ///< -l, an entry each; empty = all interfaces
  uint32_t max_connections = 1024;     ///< -c
  bool reject_at_limit = true;         ///< -o maxconns_fast
  int listen_backlog = 1024;           ///< -b
  std::string port_file;               ///< MEMCACHED_PORT_FILENAME: where to write the ports

  // Process
  bool daemon = false;       ///< -d
  bool core_dumps = false;   ///< -r
  bool lock_memory = false;  ///< -k
  std::string user;          ///< -u; counts only when started as root
  std::string pid_file;      ///< -P
  int verbosity = 0;         ///< -v; 0 to 2

  // Memory
  std::optional<uint64_t> memory_bytes;        ///< -m; absent = 64 MiB, or what the pool has
  std::string memory_file;                     ///< -e; empty = volatile
  bool evictions = true;                       ///< false = -M
  double growth_factor = 1.25;                 ///< -f
  uint32_t min_space = 48;                     ///< -n
  uint64_t item_size_max = uint64_t{1} << 20;  ///< -I
  uint32_t initial_hash_power = 16;            ///< -o hashpower
  uint32_t recovery_threads = 0;               ///< -o recovery_threads; 0 = one per core
  bool salvage_after_power_loss = false;       ///< -o salvage_after_power_loss

  // Commands
  uint32_t threads = 4;           ///< -t
  int requests_per_event = 20;    ///< -R
  bool cas_enabled = true;        ///< false = -C
  bool flush_enabled = true;      ///< false = -F
  bool shutdown_command = false;  ///< -A
  char prefix_delimiter = ':';    ///< -D
  bool detail_enabled = false;    ///< -D was given

  /// A sentence each for the log: options that were taken but have no effect here.
  std::vector<std::string> remarks;
};

/// Memory of a cache that -m says nothing about.
inline constexpr uint64_t kDefaultMemoryBytes = uint64_t{64} << 20;

}  // namespace pmcached::server
