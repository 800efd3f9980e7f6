#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace pmcached::engine {

/// Where time comes from; tests replace it.
struct ClockSource {
  std::function<int64_t()> wall_seconds;       ///< Unix time; may step either way
  std::function<int64_t()> monotonic_seconds;  ///< never goes back; runs on while suspended
  /// The system's clocks.
  static ClockSource system();
};

/// The engine's time: Unix seconds that never go back, within a run or across restarts.
///
/// Purpose: one cheap load per request; steps of the wall clock during a run have no effect, a wall
/// clock that went back while the server was down is overruled by the pool's high-water mark.
/// Thread safety: now() and the conversions from any thread, advance() from one.
/// Failure: none.
class Clock {
 public:
  /// Starts at the source's wall time or `not_before`, whichever is later.
  Clock(ClockSource source, int64_t not_before);

  /// Unix seconds as of the last advance(). Relaxed: a request may see the old second.
  uint32_t now() const { return now_.load(std::memory_order_relaxed); }
  /// Unix seconds when the clock was made.
  uint32_t started() const { return started_; }
  /// What the next publish() would make of the source, without publishing it.
  uint32_t peek() const;
  /// Makes `second` the current time, unless it is earlier.
  void publish(uint32_t second);

  /// memcached's rules for a client's exptime: 0 = never; negative = expired already; up to 30
  /// days = from now; larger = absolute Unix time. The result is absolute, 0 = never, and clamped
  /// to what 32 bits hold.
  uint32_t absolute_expiry(int64_t client_exptime) const;

 private:
  ClockSource source_;
  int64_t monotonic_origin_;
  uint32_t started_;
  std::atomic<uint32_t> now_;
};

}  // namespace pmcached::engine
