#include <catch2/catch.hpp>
#include <string>

#include "tests/support/cache_fixture.h"
#include "tests/support/slot_accounting.h"

namespace pmcached::tests {
namespace {

using engine::Outcome;
using engine::StoreMode;

TEST_CASE("flush_all takes everything stored before it and nothing stored after") {
  CacheFixture fixture;
  fixture.set("before", "value");
  fixture.flush_all();
  REQUIRE_FALSE(fixture.get("before"));
  REQUIRE(fixture.set("after", "value") == Outcome::kStored);
  REQUIRE(fixture.value("after") == "value");
  REQUIRE(fixture.store(StoreMode::kAdd, "before", "again") == Outcome::kStored);
  REQUIRE(fixture.value("before") == "again");
}

TEST_CASE("a flushed item is absent for every command") {
  CacheFixture fixture;
  fixture.set("key", "5");
  const uint64_t cas = fixture.get("key")->cas;
  fixture.flush_all();
  REQUIRE(fixture.touch("key", 100) == Outcome::kNotFound);
  REQUIRE(fixture.add("key", 1, true).outcome == Outcome::kNotFound);
  REQUIRE(fixture.store(StoreMode::kReplace, "key", "x") == Outcome::kNotStored);
  REQUIRE(fixture.store(StoreMode::kAppend, "key", "x") == Outcome::kNotStored);
  REQUIRE(fixture.store(StoreMode::kCas, "key", "x", 0, 0, cas) == Outcome::kNotFound);
  REQUIRE(fixture.remove("key") == Outcome::kNotFound);
}

TEST_CASE("a flush holds across restarts of any kind") {
  CacheFixture fixture;
  fixture.set("before", "value");
  fixture.flush_all();
  fixture.set("after", "value");
  const bool cleanly = GENERATE(false, true);
  for (int i = 0; i < 2; ++i) {
    cleanly ? fixture.restart_cleanly() : fixture.restart_after_crash();
    REQUIRE_FALSE(fixture.get("before"));
    REQUIRE(fixture.get("after"));
  }
}

TEST_CASE("recovery leaves flushed items out and says how many") {
  CacheFixture fixture;
  for (int i = 0; i < 10; ++i) {
    fixture.set("key:" + std::to_string(i), "value");
  }
  fixture.flush_all();
  fixture.set("key:0", "new");
  fixture.restart_after_crash();
  REQUIRE(fixture.cache().recovery().items == 1);
  REQUIRE(fixture.cache().recovery().flushed == 9);
}

TEST_CASE("a delayed flush comes when it is due and takes what was stored before") {
  CacheFixture fixture;
  fixture.set("early", "value");
  fixture.flush_all(10);
  fixture.set("in between", "value");
  fixture.advance(9);
  REQUIRE(fixture.get("early"));
  REQUIRE(fixture.get("in between"));
  fixture.advance(1);
  REQUIRE_FALSE(fixture.get("early"));
  REQUIRE_FALSE(fixture.get("in between"));
  fixture.set("late", "value");
  fixture.advance(100);
  REQUIRE(fixture.get("late"));
}

TEST_CASE("a later flush_all replaces one that is not due yet") {
  CacheFixture fixture;
  SECTION("by a later one") {
    fixture.flush_all(10);
    fixture.flush_all(20);
    fixture.set("key", "value");
    fixture.advance(15);
    REQUIRE(fixture.get("key"));
    fixture.advance(5);
    REQUIRE_FALSE(fixture.get("key"));
  }
  SECTION("by one at once") {
    fixture.flush_all(10);
    fixture.flush_all();
    fixture.set("key", "value");
    fixture.advance(15);
    REQUIRE(fixture.get("key"));
  }
}

TEST_CASE("a delayed flush is remembered across a restart") {
  CacheFixture fixture;
  fixture.set("key", "value");
  fixture.flush_all(10);
  const bool cleanly = GENERATE(false, true);
  cleanly ? fixture.restart_cleanly() : fixture.restart_after_crash();
  fixture.advance(9);
  REQUIRE(fixture.get("key"));
  fixture.advance(1);
  REQUIRE_FALSE(fixture.get("key"));
}

TEST_CASE("a flush that came due while the server was down is made up for at the start") {
  CacheFixture fixture;
  fixture.set("key", "value");
  fixture.flush_all(10);
  fixture.kill();
  fixture.time.advance(11);
  fixture.open();
  REQUIRE_FALSE(fixture.get("key"));
  REQUIRE(fixture.cache().recovery().flushed == 1);
  REQUIRE(fixture.set("key", "new") == Outcome::kStored);
  fixture.advance(1);
  fixture.restart_after_crash();
  REQUIRE(fixture.value("key") == "new");  // It does not come twice.
}

TEST_CASE("flushed items are removed by the cleaner without being asked for") {
  CacheFixture fixture;
  std::vector<std::string> keys;
  for (int i = 0; i < 1'000; ++i) {
    keys.push_back("key:" + std::to_string(i));
    fixture.set(keys.back(), "value");
  }
  fixture.flush_all();
  fixture.set(keys[5], "new");
  wait_until("the flushed items are gone", [&] {
    fixture.advance(1);
    return fixture.cache().stats().curr_items == 1;
  });
  require_slots_add_up(fixture, keys);
}

}  // namespace
}  // namespace pmcached::tests
