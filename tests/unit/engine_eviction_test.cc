#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/cache_fixture.h"
#include "tests/support/slot_accounting.h"

namespace pmcached::tests {
namespace {

using engine::Outcome;

constexpr size_t kBytes = 20'000;

CacheFixture::Config small_cache() {
  CacheFixture::Config config;
  config.persistent = false;
  config.bytes = uint64_t{4} << 20;
  return config;
}

std::string key_of(int number) {
  return "key:" + std::to_string(number);
}

/// Lets bags of different times come into being, as time does in a server.
void let_time_pass(CacheFixture& fixture) {
  uint64_t bags = 0;
  for (const engine::ClassStats& of_class : fixture.cache().stats().classes) bags += of_class.bags;
  wait_until("a bag has been opened", [&] {
    fixture.advance(20);
    uint64_t now = 0;
    for (const engine::ClassStats& of_class : fixture.cache().stats().classes) now += of_class.bags;
    return now > bags;
  });
}

TEST_CASE("a full cache evicts the items that were stored first") {
  CacheFixture fixture(small_cache());
  int stored = 0;
  while (fixture.cache().stats().evictions == 0) {
    REQUIRE(fixture.set(key_of(stored++), std::string(kBytes, 'x')) == Outcome::kStored);
  }
  const auto evicted = static_cast<int>(fixture.cache().stats().evictions);
  for (int i = 0; i < stored; ++i) {
    CAPTURE(i, evicted, stored);
    REQUIRE(fixture.get(key_of(i)).has_value() == (i >= evicted));
  }
}

TEST_CASE("items that are read stay, the others go") {
  CacheFixture fixture(small_cache());
  constexpr int kItems = 100;
  for (int i = 0; i < kItems; ++i) {
    fixture.set(key_of(i), std::string(kBytes, 'x'));
  }
  REQUIRE(fixture.cache().stats().evictions == 0);
  let_time_pass(fixture);
  for (int i = 0; i < kItems; i += 4) {
    REQUIRE(fixture.get(key_of(i)));
  }
  let_time_pass(fixture);
  for (int next = kItems; fixture.cache().stats().evictions < kItems / 2; ++next) {
    fixture.set(key_of(next), std::string(kBytes, 'x'));
  }
  for (int i = 0; i < kItems; i += 4) {
    CAPTURE(i);
    REQUIRE(fixture.get(key_of(i)));
  }
}

TEST_CASE("room that a delete made is used before anything is evicted") {
  CacheFixture fixture(small_cache());
  int stored = 0;
  while (fixture.cache().stats().evictions == 0) {
    fixture.set(key_of(stored++), std::string(kBytes, 'x'));
  }
  const uint64_t evictions = fixture.cache().stats().evictions;
  for (int round = 0; round < 1'000; ++round) {
    const std::string key = key_of(stored - 1 - round % 10);
    REQUIRE(fixture.remove(key) == Outcome::kDeleted);
    REQUIRE(fixture.set(key, std::string(kBytes, 'y')) == Outcome::kStored);
  }
  REQUIRE(fixture.cache().stats().evictions == evictions);
}

TEST_CASE("an evicted item does not come back with a restart") {
  CacheFixture::Config config;
  CacheFixture fixture(config);
  std::vector<std::string> keys;
  while (fixture.cache().stats().evictions < 100) {
    keys.push_back(key_of(static_cast<int>(keys.size())));
    fixture.set(keys.back(), std::string(400'000, 'x'));
  }
  const auto before = contents(fixture, keys);
  fixture.save_image();
  fixture.kill_as_saved();
  fixture.config().options.evict_to_free = false;
  fixture.open();
  for (const auto& [key, item] : contents(fixture, keys)) {
    REQUIRE(before.count(key) == 1);
  }
}

TEST_CASE("chunked items are evicted for chunks, whole ones only") {
  CacheFixture::Config config = small_cache();
  config.bytes = uint64_t{16} << 20;
  config.options.item_size_max_bytes = uint64_t{4} << 20;
  CacheFixture fixture(config);
  std::vector<std::string> keys;
  for (int i = 0; i < 50; ++i) {
    keys.push_back(key_of(i));
    const std::string value(600'000 + static_cast<size_t>(i) * 40'000, static_cast<char>('a' + i));
    REQUIRE(fixture.set(keys.back(), value) == Outcome::kStored);
    REQUIRE(fixture.value(keys.back()) == value);
  }
  REQUIRE(fixture.cache().stats().evictions > 0);
  REQUIRE(fixture.cache().stats().store_no_memory == 0);
  require_slots_add_up(fixture, keys);
}

TEST_CASE("a slab that another class no longer uses is taken before anything is evicted") {
  CacheFixture fixture(small_cache());
  // One slab of large items, full; all others of small ones, which go.
  std::vector<std::string> large;
  for (int i = 0; i < 9; ++i) {
    large.push_back(key_of(i));
    fixture.set(large.back(), std::string(100'000, 'x'));
  }
  int small = 0;
  while (fixture.cache().stats().free_slabs > 0) {
    fixture.set("small:" + std::to_string(small++), std::string(kBytes, 'x'));
  }
  while (small > 0) {
    fixture.remove("small:" + std::to_string(--small));
  }
  wait_until("the slots of small items are free", [&] {
    const auto stats = fixture.cache().stats();
    uint64_t used = 0;
    for (const engine::ClassStats& of_class : stats.classes) used += of_class.used_slots;
    return used == large.size();
  });
  for (int i = 9; i < 18; ++i) {
    large.push_back(key_of(i));
    REQUIRE(fixture.set(large.back(), std::string(100'000, 'x')) == Outcome::kStored);
  }
  REQUIRE(fixture.cache().stats().evictions == 0);
  REQUIRE(fixture.cache().stats().slab_moves == 1);
  for (const std::string& key : large) {
    REQUIRE(fixture.get(key).has_value());
  }
}

}  // namespace
}  // namespace pmcached::tests
