#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/cache_fixture.h"
#include "tests/support/slot_accounting.h"
#include "tests/support/stamped_value.h"
#include "tests/support/thread_team.h"

namespace pmcached::tests {
namespace {

using engine::Outcome;

CacheFixture::Config dram_config(uint64_t mib) {
  CacheFixture::Config config;
  config.persistent = false;
  config.bytes = mib << 20;
  config.options.item_size_max_bytes = uint64_t{4} << 20;
  return config;
}

std::string key_of(const char* prefix, int number) {
  return prefix + std::to_string(number);
}

/// Stores values of one size until the cache has evicted some; returns the keys used.
std::vector<std::string> fill(CacheFixture& fixture, const char* prefix, size_t bytes) {
  std::vector<std::string> keys;
  const uint64_t before = fixture.cache().stats().evictions;
  while (keys.size() % 64 != 0 || fixture.cache().stats().evictions == before) {
    keys.push_back(key_of(prefix, static_cast<int>(keys.size())));
    REQUIRE(fixture.set(keys.back(), stamped_value(keys.back(), {}, bytes)) == Outcome::kStored);
  }
  return keys;
}

TEST_CASE("a cache full of one size takes another size at once, from one thread or from four") {
  struct Shift {
    uint64_t mib;
    bool persistent;
    uint32_t threads;
    size_t bytes;
  };
  const auto shift = GENERATE(Shift{16, false, 1, 20'000}, Shift{16, false, 4, 20'000},
                              Shift{16, false, 1, 300'000}, Shift{16, false, 4, 300'000},
                              Shift{32, false, 1, 3'000'000}, Shift{64, true, 4, 3'000'000});
  CAPTURE(shift.mib, shift.persistent, shift.threads, shift.bytes);
  CacheFixture::Config config = dram_config(shift.mib);
  config.persistent = shift.persistent;
  CacheFixture fixture(config);
  std::vector<std::string> keys = fill(fixture, "small:", 2'000);
  const size_t before = contents(fixture, keys).size();

  constexpr uint32_t kValuesEach = 8;
  ThreadTeam team(fixture.cache(), test_seed());
  team.add(shift.threads, [&](CacheClient& client, uint32_t number, ThreadTeam::Random&) {
    for (uint32_t i = 0; i < kValuesEach; ++i) {
      const std::string key = key_of("large:", static_cast<int>(i * shift.threads + number));
      team.expect(client.set(key, stamped_value(key, {}, shift.bytes)) == Outcome::kStored,
                  "a cache that may evict ran out of memory");
      const auto value = client.value(key);
      team.expect(!value || read_stamp(key, *value), "a value is torn or foreign");
    }
  });
  team.run();
  // No more slabs are emptied than the new values take, half a slab at least for a large one.
  const size_t values = shift.threads * kValuesEach;
  const size_t most_slabs = (values * shift.bytes >> 19) + values / 2 + 2;
  const uint64_t moves = fixture.cache().stats().slab_moves;
  REQUIRE(moves > 0);
  REQUIRE(moves <= most_slabs);
  const engine::SizeClasses classes(fixture.region().slot_lines());
  REQUIRE(contents(fixture, keys).size() +
              moves * classes.slots_per_slab(classes.class_for(2'050)) >=
          before);
  for (uint32_t i = 0; i < values; ++i) {
    keys.push_back(key_of("large:", static_cast<int>(i)));
  }
  require_consistent(fixture, keys);
}

TEST_CASE("a class that has no slab gets one even when every other class has only one") {
  CacheFixture::Config config = dram_config(16);
  config.growth_factor = 1.05;
  CacheFixture fixture(config);
  const engine::SizeClasses classes(fixture.region().slot_lines());
  REQUIRE(classes.count() > 17);
  std::vector<std::string> keys;
  for (uint32_t i = 0; i < classes.count(); ++i) {
    const auto size_class = static_cast<engine::SizeClass>(i);
    keys.push_back(key_of("class:", size_class));
    const size_t bytes = classes.slot_bytes(size_class) - sizeof(engine::RecordHeader) - 20;
    REQUIRE(fixture.set(keys.back(), std::string(bytes, 'x')) == Outcome::kStored);
  }
  require_consistent(fixture, keys);
}

TEST_CASE("chunked values evict each other even when their records stand where small items stood") {
  CacheFixture fixture(dram_config(16));
  std::vector<std::string> keys;
  for (int i = 0; i < 1'000; ++i) {
    keys.push_back(key_of("small:", i));
    fixture.set(keys.back(), "x");
  }
  for (const std::string& key : keys) {
    REQUIRE(fixture.remove(key) == Outcome::kDeleted);
  }
  for (int i = 0; i < 200; ++i) {
    keys.push_back(key_of("large:", i));
    REQUIRE(fixture.set(keys.back(), std::string(1'500'000, 'x')) == Outcome::kStored);
  }
  require_consistent(fixture, keys);
}

/// Items that fill the cache, each kept by a pin.
struct PinnedItems {
  std::vector<std::string> keys;
  std::vector<engine::Pin> pins;
};

PinnedItems fill_with_pinned(CacheFixture& fixture, size_t bytes) {
  PinnedItems items;
  for (;;) {
    const std::string key = key_of("pinned:", static_cast<int>(items.keys.size()));
    if (fixture.set(key, stamped_value(key, {}, bytes)) != Outcome::kStored) {
      return items;
    }
    items.keys.push_back(key);
    const engine::Session::Turn turn(fixture.session());
    engine::ItemView view;
    REQUIRE(fixture.cache().get(fixture.session(), engine::hash_key(key), &view));
    items.pins.push_back(fixture.cache().pin(view));
  }
}

TEST_CASE("when replies pin every item, stores run out of memory and recover with the replies") {
  const size_t bytes = GENERATE(5'000U, 100'000U, 700'000U);
  CAPTURE(bytes);
  CacheFixture fixture(dram_config(8));
  PinnedItems items = fill_with_pinned(fixture, bytes);
  REQUIRE(items.keys.size() >= 5);
  REQUIRE(fixture.cache().stats().evictions == 0);
  REQUIRE(fixture.cache().stats().store_no_memory == 1);

  // A refused set leaves no older value behind; other modes leave the item.
  const std::string value(bytes, 'x');
  REQUIRE(fixture.store(engine::StoreMode::kReplace, items.keys[1], value) ==
          Outcome::kOutOfMemory);
  REQUIRE(fixture.value(items.keys[1]).has_value());
  REQUIRE(fixture.set(items.keys[0], value) == Outcome::kOutOfMemory);
  REQUIRE_FALSE(fixture.value(items.keys[0]).has_value());

  items.pins.clear();
  REQUIRE(fixture.set("new", value) == Outcome::kStored);
  REQUIRE(fixture.value("new") == value);
  items.keys.emplace_back("new");
  require_consistent(fixture, items.keys);
}

TEST_CASE("many pinned items in front of the queue do not keep others from being evicted") {
  CacheFixture fixture(dram_config(16));
  PinnedItems pinned;
  const size_t bytes = 20'000;
  for (int i = 0; i < 200; ++i) {
    pinned.keys.push_back(key_of("pinned:", i));
    REQUIRE(fixture.set(pinned.keys.back(), stamped_value(pinned.keys.back(), {}, bytes)) ==
            Outcome::kStored);
    const engine::Session::Turn turn(fixture.session());
    engine::ItemView view;
    REQUIRE(fixture.cache().get(fixture.session(), engine::hash_key(pinned.keys.back()), &view));
    pinned.pins.push_back(fixture.cache().pin(view));
  }
  std::vector<std::string> keys = fill(fixture, "other:", bytes);
  REQUIRE(fixture.cache().stats().store_no_memory == 0);
  for (const std::string& key : pinned.keys) {
    REQUIRE(fixture.value(key) == stamped_value(key, {}, bytes));
  }
  pinned.pins.clear();
  keys.insert(keys.end(), pinned.keys.begin(), pinned.keys.end());
  require_consistent(fixture, keys);
}

TEST_CASE("without eviction a full cache refuses stores until something is deleted") {
  const bool persistent = GENERATE(false, true);
  const size_t bytes = GENERATE(8'000U, 700'000U);
  CAPTURE(persistent, bytes);
  CacheFixture::Config config = dram_config(persistent ? 64 : 8);
  config.persistent = persistent;
  config.options.evict_to_free = false;
  CacheFixture fixture(config);
  std::vector<std::string> keys;
  const std::string value(bytes, 'x');
  do {
    keys.push_back(key_of("key:", static_cast<int>(keys.size())));
  } while (fixture.set(keys.back(), value) == Outcome::kStored);
  const size_t capacity = keys.size() - 1;
  REQUIRE(contents(fixture, keys).size() == capacity);
  REQUIRE(fixture.cache().stats().evictions == 0);
  REQUIRE(fixture.cache().stats().store_no_memory == 1);

  REQUIRE(fixture.remove(keys[0]) == Outcome::kDeleted);
  REQUIRE(fixture.set(keys.back(), value) == Outcome::kStored);
  REQUIRE(contents(fixture, keys).size() == capacity);
  // A set that is refused removes the value it was to replace; the next one finds that room.
  REQUIRE(fixture.set(keys[1], value) == Outcome::kOutOfMemory);
  REQUIRE_FALSE(fixture.value(keys[1]).has_value());
  REQUIRE(fixture.set(keys[1], value) == Outcome::kStored);
  require_consistent(fixture, keys);
}

TEST_CASE("threads that meet a full cache without eviction keep every value they were promised") {
  CacheFixture::Config config = dram_config(8);
  config.options.evict_to_free = false;
  CacheFixture fixture(config);
  std::vector<std::string> keys;
  for (int i = 0; i < 2'000; ++i) {
    keys.push_back(key_of("key:", i));
  }
  ThreadTeam team(fixture.cache(), test_seed());
  std::atomic<uint64_t> refused{0};
  team.add(4, [&](CacheClient& client, uint32_t number, ThreadTeam::Random& random) {
    for (int i = 0; i < rounds(16'000); ++i) {
      const std::string& key = keys[random() % (keys.size() / 4) * 4 + number];
      const std::string value =
          stamped_value(key, {.writer = number, .sequence = random()}, 1'000 + random() % 9'000);
      if (random() % 3 == 0) {
        client.remove(key);
      } else if (client.set(key, value) == Outcome::kStored) {
        team.expect(client.value(key) == value, "a stored value is not there");
      } else {
        refused.fetch_add(1, std::memory_order_relaxed);
        team.expect(!client.get(key), "a refused set left the old value");
      }
    }
  });
  team.run();
  REQUIRE(refused.load() > 0);
  REQUIRE(fixture.cache().stats().evictions == 0);
  require_consistent(fixture, keys);
}

}  // namespace
}  // namespace pmcached::tests
