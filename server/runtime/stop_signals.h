#pragma once

#include <array>
#include <csignal>
#include <memory>

#include "server/net/event_loop.h"

namespace pmcached::server {

/// Ends a loop when the process is told to stop: by SIGTERM or SIGINT, or gracefully by SIGUSR1.
///
/// Purpose: signals become ordinary events of the main loop. SIGPIPE and SIGHUP are ignored,
/// and after its end the stop signals are: a clean stop is carried through.
/// Thread safety: belongs to the loop's thread; request() from any.
/// Ownership: borrows the loop, which outlives it.
class StopSignals {
 public:
  explicit StopSignals(EventLoop& loop);

  /// Whether clients were to be given time to read their replies.
  bool graceful() const { return graceful_; }

  /// Tells this process to stop, as a signal from outside would.
  static void request(bool graceful);

 private:
  static void on_signal(int number, short what, void* signals);

  EventLoop& loop_;
  bool graceful_ = false;
  std::array<Event, 3> events_;
};

}  // namespace pmcached::server
