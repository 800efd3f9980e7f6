#include <catch2/catch.hpp>
#include <limits>

#include "engine/clock.h"
#include "tests/support/cache_fixture.h"

namespace pmcached::engine {
namespace {

using tests::ManualTime;

constexpr int64_t kStart = 1'700'000'000;
constexpr int64_t kThirtyDays = int64_t{60} * 60 * 24 * 30;

struct Fixture {
  ManualTime time{.wall = kStart};
  Clock clock{time.source(), 0};

  uint32_t now_after(int64_t wall_step, int64_t monotonic_step) {
    time.wall += wall_step;
    time.monotonic += monotonic_step;
    clock.publish(clock.peek());
    return clock.now();
  }
};

TEST_CASE("the clock starts at the wall's time and follows the monotonic clock") {
  Fixture fixture;
  REQUIRE(fixture.clock.started() == kStart);
  REQUIRE(fixture.clock.now() == kStart);
  REQUIRE(fixture.now_after(0, 5) == kStart + 5);
  REQUIRE(fixture.clock.started() == kStart);
}

TEST_CASE("steps of the wall clock have no effect, forward or back") {
  Fixture fixture;
  REQUIRE(fixture.now_after(-100'000, 1) == kStart + 1);
  REQUIRE(fixture.now_after(1'000'000, 1) == kStart + 2);
}

TEST_CASE("the clock shows a second only once it is published, and never an earlier one") {
  Fixture fixture;
  fixture.time.advance(10);
  REQUIRE(fixture.clock.peek() == kStart + 10);
  REQUIRE(fixture.clock.now() == kStart);
  fixture.clock.publish(kStart + 10);
  fixture.clock.publish(kStart + 3);
  REQUIRE(fixture.clock.now() == kStart + 10);
}

TEST_CASE("a wall clock that is behind what was seen before is overruled") {
  ManualTime time{.wall = kStart};
  REQUIRE(Clock(time.source(), kStart + 500).now() == kStart + 500);
  REQUIRE(Clock(time.source(), kStart - 500).now() == kStart);
}

TEST_CASE("a wall clock beyond 32 bits is held at the last second they have") {
  ManualTime time{.wall = int64_t{1} << 40};
  REQUIRE(Clock(time.source(), 0).now() == std::numeric_limits<uint32_t>::max());
  time.wall = -5;
  REQUIRE(Clock(time.source(), 0).now() == 1);
}

TEST_CASE("expiry times mean what memcached means by them") {
  Fixture fixture;
  const Clock& clock = fixture.clock;
  REQUIRE(clock.absolute_expiry(0) == 0);
  REQUIRE(clock.absolute_expiry(1) == kStart + 1);
  REQUIRE(clock.absolute_expiry(kThirtyDays) == kStart + kThirtyDays);
  // Longer than 30 days is a date, here one of 1970.
  REQUIRE(clock.absolute_expiry(kThirtyDays + 1) == kThirtyDays + 1);
  REQUIRE(clock.absolute_expiry(kStart + 7) == kStart + 7);
  for (const int64_t negative : {int64_t{-1}, -kStart, std::numeric_limits<int64_t>::min()}) {
    REQUIRE(clock.absolute_expiry(negative) != 0);
    REQUIRE(clock.absolute_expiry(negative) <= clock.now());
  }
  REQUIRE(clock.absolute_expiry(std::numeric_limits<int64_t>::max()) ==
          std::numeric_limits<uint32_t>::max());
}

}  // namespace
}  // namespace pmcached::engine
