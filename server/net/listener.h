#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "engine/stats.h"
#include "pmem/file_descriptor.h"
#include "pmem/status.h"
#include "server/net/connection_limit.h"
#include "server/net/event_loop.h"
#include "server/net/listening_socket.h"

namespace pmcached::server {

/// Accepts clients and hands them on.
///
/// Purpose: keeps to the connection limit in one of memcached's two ways: by telling surplus
/// clients so (maxconns_fast), or by not accepting them until others have gone.
/// Thread safety: belongs to the loop's thread; the counters may be read by others.
/// Ownership: owns the sockets; borrows loop and limit, which outlive it.
/// Failure: only start() can fail; a client that cannot be accepted is logged.
class Listener {
 public:
  /// Takes over a client whom the limit has let in.
  using Dispatch = std::function<void(pmem::FileDescriptor client)>;

  struct Counters {
    engine::Counter rejected;
    engine::Counter pauses;              ///< times accepting was suspended
    engine::Counter pause_micros;        ///< spent suspended, in pauses that are over
    std::atomic<bool> accepting{false};  ///< relaxed: shown, and nothing depends on it
  };

  Listener(EventLoop& loop, std::vector<ListeningSocket> sockets, int backlog, bool reject_at_limit,
           ConnectionLimit& limit, Dispatch dispatch);

  Status start();
  /// Closes the sockets: nobody else connects.
  void close();

  const Counters& counters() const { return counters_; }

 private:
  static void on_client_waiting(int descriptor, short what, void* listener);
  static void on_retry(int descriptor, short what, void* listener);

  void accept_from(int descriptor);
  /// Accepts one client. False when there is none or none can be had now.
  bool accept_one(int descriptor);
  void pause();
  void resume_if_possible();
  bool watch_sockets();

  std::vector<ListeningSocket> sockets_;
  const int backlog_;
  const bool reject_at_limit_;
  ConnectionLimit& limit_;
  Dispatch dispatch_;
  EventLoop& loop_;
  std::vector<std::unique_ptr<Event>> events_;  ///< one a socket
  Event retry_;
  Counters counters_;
  std::chrono::steady_clock::time_point paused_at_;
  uint32_t clients_when_paused_ = 0;
};

}  // namespace pmcached::server
