#include <catch2/catch.hpp>
#include <string>

#include "tests/support/cache_fixture.h"
#include "tests/support/slot_accounting.h"

namespace pmcached::tests {
namespace {

using engine::Outcome;
using engine::StoreMode;

TEST_CASE("an item lives until its last second is over") {
  CacheFixture fixture;
  fixture.set("key", "value", 0, 10);
  fixture.set("for ever", "value");
  fixture.advance(9);
  REQUIRE(fixture.get("key"));
  fixture.advance(1);
  REQUIRE_FALSE(fixture.get("key"));
  fixture.advance(1'000'000);
  REQUIRE(fixture.get("for ever"));
}

TEST_CASE("a negative expiry, or a date gone by, stores an item that nobody sees") {
  CacheFixture fixture;
  const int64_t exptime =
      GENERATE(int64_t{-1}, int64_t{-1'000'000}, int64_t{60 * 60 * 24 * 30 + 1});
  fixture.set("key", "old");
  REQUIRE(fixture.set("key", "new", 0, exptime) == Outcome::kStored);
  REQUIRE_FALSE(fixture.get("key"));
  fixture.restart_after_crash();
  REQUIRE_FALSE(fixture.get("key"));
}

TEST_CASE("an expired item is absent for every command") {
  CacheFixture fixture;
  const auto expired = [&](const std::string& key) {
    fixture.set(key, "5", 0, 1);
    return key;
  };
  const std::string key = expired("key");
  fixture.advance(1);
  REQUIRE(fixture.remove(key) == Outcome::kNotFound);
  expired(key);
  fixture.advance(1);
  REQUIRE(fixture.touch(key, 100) == Outcome::kNotFound);
  REQUIRE_FALSE(fixture.get_and_touch(key, 100));
  REQUIRE(fixture.add(key, 1, true).outcome == Outcome::kNotFound);
  REQUIRE(fixture.store(StoreMode::kReplace, key, "x") == Outcome::kNotStored);
  REQUIRE(fixture.store(StoreMode::kAppend, key, "x") == Outcome::kNotStored);
  REQUIRE(fixture.store(StoreMode::kPrepend, key, "x") == Outcome::kNotStored);
  REQUIRE(fixture.store(StoreMode::kCas, key, "x", 0, 0, 1) == Outcome::kNotFound);
  REQUIRE(fixture.store(StoreMode::kAdd, key, "x") == Outcome::kStored);
  REQUIRE(fixture.value(key) == "x");
}

TEST_CASE("touch sets a new expiry, also none, durably") {
  CacheFixture fixture;
  fixture.set("longer", "value", 0, 10);
  fixture.set("for ever", "value", 0, 10);
  fixture.set("shorter", "value");
  REQUIRE(fixture.touch("longer", 100) == Outcome::kTouched);
  REQUIRE(fixture.touch("for ever", 0) == Outcome::kTouched);
  REQUIRE(fixture.touch("shorter", 5) == Outcome::kTouched);
  REQUIRE(fixture.touch("absent", 5) == Outcome::kNotFound);
  fixture.restart_after_crash();
  fixture.advance(99);
  REQUIRE(fixture.get("longer"));
  REQUIRE(fixture.get("for ever"));
  REQUIRE_FALSE(fixture.get("shorter"));
  fixture.advance(1);
  REQUIRE_FALSE(fixture.get("longer"));
}

TEST_CASE("get-and-touch hands out the value even if it expires at once") {
  CacheFixture fixture;
  fixture.set("key", "value");
  REQUIRE(fixture.get_and_touch("key", 10) == "value");
  REQUIRE(fixture.get("key")->exptime == fixture.cache().clock().now() + 10);
  REQUIRE(fixture.get_and_touch("key", -1) == "value");
  REQUIRE_FALSE(fixture.get_and_touch("key", 10));
  REQUIRE_FALSE(fixture.get("key"));
}

TEST_CASE("incr and append keep the expiry and the flags of the item they change") {
  CacheFixture fixture;
  fixture.set("number", "5", 42, 10);
  fixture.set("text", "a", 43, 10);
  fixture.advance(3);
  REQUIRE(fixture.add("number", 1, true).value == 6);
  REQUIRE(fixture.store(StoreMode::kAppend, "text", "b", 99, 500) == Outcome::kStored);
  REQUIRE(fixture.get("number")->client_flags == 42);
  REQUIRE(fixture.get("text")->client_flags == 43);
  fixture.advance(7);
  REQUIRE_FALSE(fixture.get("number"));
  REQUIRE_FALSE(fixture.get("text"));
}

TEST_CASE("time to live runs on while the server is down") {
  CacheFixture fixture;
  fixture.set("short", "value", 0, 10);
  fixture.set("long", "value", 0, 1'000);
  const bool cleanly = GENERATE(false, true);
  if (cleanly) {
    fixture.stop_cleanly();
  } else {
    fixture.kill();
  }
  fixture.time.advance(60);
  fixture.open();
  REQUIRE_FALSE(fixture.get("short"));
  REQUIRE(fixture.get("long"));
  REQUIRE(fixture.cache().recovery().expired == 1);
}

TEST_CASE("a wall clock that went back while the server was down extends no life") {
  CacheFixture fixture;
  fixture.set("key", "value", 0, 100);
  fixture.advance(60);
  fixture.kill();
  fixture.time.wall -= 1'000'000;
  fixture.open();
  REQUIRE(fixture.get("key"));
  fixture.advance(39);
  REQUIRE(fixture.get("key"));
  fixture.advance(1);
  REQUIRE_FALSE(fixture.get("key"));
}

TEST_CASE("an expired item does not bring the one it replaced back") {
  CacheFixture fixture;
  fixture.set("key", "old");
  fixture.set("key", "new", 0, 5);
  fixture.advance(5);
  REQUIRE_FALSE(fixture.get("key"));
  fixture.restart_after_crash();
  REQUIRE_FALSE(fixture.get("key"));
}

TEST_CASE("expired items are removed by the cleaner without being asked for") {
  CacheFixture fixture;
  std::vector<std::string> keys;
  for (int i = 0; i < 1'000; ++i) {
    keys.push_back("key:" + std::to_string(i));
    fixture.set(keys.back(), "value", 0, i % 2 == 0 ? 10 : 0);
  }
  fixture.get(keys[0]);
  fixture.advance(10);
  wait_until("the expired items are gone", [&] {
    fixture.advance(1);
    return fixture.cache().stats().curr_items == 500;
  });
  REQUIRE(fixture.cache().stats().reclaimed == 500);
  REQUIRE(fixture.cache().stats().expired_unfetched == 499);
  REQUIRE(fixture.cache().stats().evictions == 0);
  require_slots_add_up(fixture, keys);
  fixture.restart_after_crash();
  REQUIRE(fixture.cache().recovery().items == 500);
}

}  // namespace
}  // namespace pmcached::tests
