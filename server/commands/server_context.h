#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "engine/cache.h"
#include "server/commands/prefix_statistics.h"
#include "server/commands/request_batch.h"
#include "server/commands/settings.h"

namespace pmcached::server {

/// What one worker counts of its connections. Written by the worker, read by any thread.
struct ConnectionCounters {
  engine::Counter opened;  ///< connections taken over
  engine::Counter closed;
  engine::Counter bytes_read;
  engine::Counter bytes_written;
  engine::Counter yields;  ///< turns cut short because a client had used up its requests (-R)
};

/// The connection statistics of the whole process, added up over its workers and its listener.
struct ConnectionTotals {
  uint64_t current = 0;            ///< curr_connections
  uint64_t total = 0;              ///< total_connections since the start or `stats reset`
  uint64_t rejected = 0;           ///< rejected_connections: refused because of -c
  uint64_t structures = 0;         ///< connection_structures
  uint64_t read_buffers = 0;       ///< read_buf_count
  uint64_t read_buffer_bytes = 0;  ///< read_buf_bytes
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t yields = 0;                  ///< conn_yields
  uint64_t listen_disabled = 0;         ///< listen_disabled_num
  uint64_t listen_disabled_micros = 0;  ///< time_in_listen_disabled_us
  uint64_t reserved_fds = 0;            ///< not to be used for clients: listeners, pool, log
  bool accepting = true;                ///< accepting_conns
};

/// One line group of `stats conns`.
struct ConnectionInfo {
  int fd = -1;
  std::string address;         ///< of the peer, such as "tcp:127.0.0.1:40312"
  std::string listen_address;  ///< the address it came in by; empty for a listener itself
  std::string state;           ///< memcached's names, such as "conn_read"
  uint64_t seconds_since_last_command = 0;
};

/// What the commands need from the process.
///
/// Thread safety: shared by all workers. The hooks are set before the first conversation and may be
/// called from any worker; each must be thread safe. None may be empty.
/// Ownership: borrows cache and settings, which outlive it.
struct ServerContext {
  engine::Cache& cache;
  const ServerSettings& settings;

  std::string version;           ///< of the program, as `version` answers
  std::string libevent_version;  ///< for `stats`
  pid_t pid = 0;

  /// The `shutdown` command: stop cleanly; if graceful, clients get time to read their replies.
  std::function<void(bool graceful)> request_shutdown;
  /// The `verbosity` command: 0 = warnings, 1 = also information, 2 = also debugging.
  std::function<void(int level)> set_verbosity;
  std::function<ConnectionTotals()> connection_totals;
  /// The connections' share of `stats reset`: zeroes the counters, not the gauges.
  std::function<void()> reset_connection_counters;
  /// Calls `visit` for every listener and connection.
  std::function<void(const std::function<void(const ConnectionInfo&)>& visit)> visit_connections;

  /// As set by the option or the last `verbosity`. Relaxed: a statistic.
  std::atomic<int> verbosity{settings.verbosity};
  PrefixStatistics prefix_statistics{settings.prefix_delimiter, settings.detail_enabled};
};

/// What the commands need from the worker that runs them. One per worker.
/// Thread safety: belongs to the worker's thread; the counters may be read by others.
struct WorkerContext {
  engine::Session& session;
  ConnectionCounters& counters;
  /// Scratch of Conversation::consume(), here so that all of a worker's conversations share it.
  RequestBatch batch{};
};

}  // namespace pmcached::server
