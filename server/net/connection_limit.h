#pragma once

#include <atomic>
#include <cstdint>

namespace pmcached::server {

/// How many clients there are, and how many there may be (-c).
///
/// Thread safety: try_enter() from the listener's thread only, the rest from any. Relaxed
/// throughout: the number orders nothing, and as only one thread raises it, it never passes the
/// limit.
class ConnectionLimit {
 public:
  explicit ConnectionLimit(uint32_t maximum) : maximum_(maximum) {}

  bool reached() const { return current() >= maximum_; }
  /// Counts one more client, unless the limit is reached.
  bool try_enter() {
    if (reached()) {
      return false;
    }
    current_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  /// A client has gone.
  void leave() { current_.fetch_sub(1, std::memory_order_relaxed); }

  uint32_t current() const { return current_.load(std::memory_order_relaxed); }

 private:
  const uint32_t maximum_;
  std::atomic<uint32_t> current_{0};
};

}  // namespace pmcached::server
