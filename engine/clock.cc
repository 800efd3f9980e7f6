#include "engine/clock.h"

#include <time.h>

#include <algorithm>
#include <limits>

namespace pmcached::engine {
namespace {

int64_t seconds_of(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return now.tv_sec;
}

uint32_t clamp_to_32_bits(int64_t seconds) {
  return static_cast<uint32_t>(
      std::clamp<int64_t>(seconds, 1, std::numeric_limits<uint32_t>::max()));
}

constexpr int64_t kLongestRelativeExpiry = int64_t{60} * 60 * 24 * 30;
constexpr uint32_t kLongAgo = 1;

}  // namespace

ClockSource ClockSource::system() {
  return {.wall_seconds = [] { return seconds_of(CLOCK_REALTIME); },
          .monotonic_seconds = [] { return seconds_of(CLOCK_BOOTTIME); }};
}

Clock::Clock(ClockSource source, int64_t not_before)
    : source_(std::move(source)),
      monotonic_origin_(source_.monotonic_seconds()),
      started_(clamp_to_32_bits(std::max(source_.wall_seconds(), not_before))),
      now_(started_) {}

uint32_t Clock::peek() const {
  return clamp_to_32_bits(int64_t{started_} + source_.monotonic_seconds() - monotonic_origin_);
}

void Clock::publish(uint32_t second) {
  if (second > now()) {
    now_.store(second, std::memory_order_relaxed);
  }
}

uint32_t Clock::absolute_expiry(int64_t client_exptime) const {
  if (client_exptime == 0) {
    return 0;
  }
  if (client_exptime < 0) {
    return kLongAgo;
  }
  return clamp_to_32_bits(client_exptime <= kLongestRelativeExpiry ? now() + client_exptime
                                                                   : client_exptime);
}

}  // namespace pmcached::engine
