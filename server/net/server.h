#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "pmem/mutex.h"
#include "pmem/status.h"
#include "server/commands/server_context.h"
#include "server/net/connection_limit.h"
#include "server/net/event_loop.h"
#include "server/net/listener.h"
#include "server/net/listening_socket.h"
#include "server/net/worker.h"

namespace pmcached::server {

/// File descriptors the server needs apart from one for each client.
constexpr uint32_t reserved_descriptors(uint32_t threads) {
  return 64 + 4 * threads;
}

/// Everything that has to do with sockets: the listener and the workers it feeds in turn.
///
/// Purpose: starts and stops them together and adds up what they count.
/// Thread safety: start() and stop() from the loop's thread; the statistics, which it puts into the
/// context's connection hooks, from any.
/// Ownership: borrows context and loop, which outlive it. The destructor stops the workers.
/// Failure: the constructor throws like Worker's; start() reports.
class Server {
 public:
  /// Starts the workers (-t). `sockets` stay closed to clients until start().
  Server(ServerContext& context, EventLoop& loop, std::vector<ListeningSocket> sockets,
         bool reject_at_limit);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Lets clients in.
  Status start();
  /// Lets nobody in any more, finishes the requests that have been received and closes the
  /// clients. Returns when that is done; clients that do not read their replies delay it by
  /// `patience` at most.
  void stop(std::chrono::milliseconds patience);

 private:
  /// The counters since the start, and the gauges.
  ConnectionTotals sum() const;
  ConnectionTotals totals() const;
  void reset_counters();
  void visit_connections(const std::function<void(const ConnectionInfo&)>& visit) const;
  void dispatch(pmem::FileDescriptor client);

  ServerContext& context_;
  ConnectionLimit limit_;
  std::vector<std::unique_ptr<Worker>> workers_;
  size_t next_worker_ = 0;
  std::vector<ConnectionInfo> listener_infos_;  ///< fixed once constructed
  Listener listener_;

  mutable Mutex baseline_mutex_;
  ConnectionTotals baseline_ GUARDED_BY(baseline_mutex_);  ///< sum() at the last reset
};

}  // namespace pmcached::server
