#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "engine/slab/size_class.h"
#include "tests/support/cache_fixture.h"
#include "tests/support/slot_accounting.h"

namespace pmcached::tests {
namespace {

using engine::CacheStats;
using engine::StoreMode;

CacheFixture::Config in_dram(uint64_t mib = 16) {
  CacheFixture::Config config;
  config.persistent = false;
  config.bytes = mib << 20;
  return config;
}

size_t class_of(CacheFixture& fixture, size_t bytes) {
  return engine::SizeClasses(fixture.region().slot_lines()).class_for(bytes);
}

TEST_CASE("gets are counted as hits, misses, expired and flushed ones") {
  CacheFixture fixture(in_dram());
  fixture.set("key", "value");
  fixture.set("short", "value", 0, 1);
  fixture.get("key");
  fixture.get("absent");
  fixture.advance(1);
  fixture.get("short");
  fixture.flush_all();
  fixture.get("key");
  const CacheStats stats = fixture.cache().stats();
  REQUIRE(stats.get_cmds == 4);
  REQUIRE(stats.get_hits == 1);
  REQUIRE(stats.get_misses == 3);
  REQUIRE(stats.get_expired == 1);
  REQUIRE(stats.get_flushed == 1);
  REQUIRE(stats.flush_cmds == 1);
}

TEST_CASE("stores are counted by what became of them") {
  CacheFixture fixture(in_dram());
  fixture.set("key", "1");
  fixture.store(StoreMode::kAdd, "key", "2");
  fixture.store(StoreMode::kCas, "key", "3", 0, 0, 99'999);
  fixture.store(StoreMode::kCas, "key", "3", 0, 0, fixture.get("key")->cas);
  fixture.store(StoreMode::kCas, "absent", "3", 0, 0, 1);
  fixture.set("key", std::string(2'000'000, 'x'));
  const CacheStats stats = fixture.cache().stats();
  REQUIRE(stats.set_cmds == 5);
  REQUIRE(stats.total_items == 2);
  REQUIRE(stats.cas_badval == 1);
  REQUIRE(stats.cas_hits == 1);
  REQUIRE(stats.cas_misses == 1);
  REQUIRE(stats.store_too_large == 1);
}

TEST_CASE("deletes, touches and arithmetic are counted as hits and misses") {
  CacheFixture fixture(in_dram());
  fixture.set("key", "5");
  fixture.add("key", 1, true);
  fixture.add("key", 1, true);
  fixture.add("key", 1, false);
  fixture.add("absent", 1, true);
  fixture.add("absent", 1, false);
  fixture.touch("key", 10);
  fixture.touch("absent", 10);
  fixture.get_and_touch("key", 10);
  fixture.remove("key");
  fixture.remove("key");
  const CacheStats stats = fixture.cache().stats();
  REQUIRE(stats.incr_hits == 2);
  REQUIRE(stats.incr_misses == 1);
  REQUIRE(stats.decr_hits == 1);
  REQUIRE(stats.decr_misses == 1);
  REQUIRE(stats.touch_cmds == 3);
  REQUIRE(stats.touch_hits == 2);
  REQUIRE(stats.touch_misses == 1);
  REQUIRE(stats.get_cmds == 0);
  REQUIRE(stats.delete_hits == 1);
  REQUIRE(stats.delete_misses == 1);
}

TEST_CASE("counters belong to the size class of the item they concern") {
  CacheFixture fixture(in_dram());
  const std::string large(5'000, 'x');
  fixture.set("small", "5");
  fixture.set("large", large);
  fixture.get("large");
  fixture.get("large");
  fixture.get("small");
  fixture.touch("large", 10);
  fixture.add("small", 1, true);
  fixture.remove("large");
  const CacheStats stats = fixture.cache().stats();
  const auto& small_class = stats.classes[class_of(fixture, 32 + 5 + 1)];
  const auto& large_class = stats.classes[class_of(fixture, 32 + 5 + large.size())];
  REQUIRE(small_class.get_hits == 1);
  REQUIRE(small_class.set_cmds == 1);
  REQUIRE(small_class.incr_hits == 1);
  REQUIRE(small_class.items == 1);
  REQUIRE(large_class.get_hits == 2);
  REQUIRE(large_class.touch_hits == 1);
  REQUIRE(large_class.delete_hits == 1);
  REQUIRE(large_class.items == 0);
}

TEST_CASE("items and bytes are what is stored, header, key and value of each") {
  CacheFixture fixture(in_dram());
  fixture.set("key", "12345");
  fixture.set("other", std::string(700'000, 'x'));
  fixture.set("key", "1234567");
  CacheStats stats = fixture.cache().stats();
  REQUIRE(stats.curr_items == 2);
  REQUIRE(stats.bytes == 32 + 3 + 7 + 32 + 5 + 700'000);
  fixture.remove("other");
  stats = fixture.cache().stats();
  REQUIRE(stats.curr_items == 1);
  REQUIRE(stats.bytes == 32 + 3 + 7);
}

TEST_CASE("items and bytes are the same after recovery as before") {
  CacheFixture fixture;
  for (int i = 0; i < 100; ++i) {
    fixture.set("key:" + std::to_string(i), std::string(static_cast<size_t>(i) * 100, 'x'));
  }
  const CacheStats before = fixture.cache().stats();
  fixture.restart_after_crash();
  const CacheStats after = fixture.cache().stats();
  REQUIRE(after.curr_items == before.curr_items);
  REQUIRE(after.bytes == before.bytes);
  REQUIRE(fixture.cache().recovery().items == before.curr_items);
  REQUIRE(fixture.cache().recovery().bytes == before.bytes);
  for (size_t i = 0; i < after.classes.size(); ++i) {
    REQUIRE(after.classes[i].items == before.classes[i].items);
    REQUIRE(after.classes[i].item_bytes == before.classes[i].item_bytes);
  }
}

TEST_CASE("memory is accounted for slab by slab") {
  CacheFixture fixture(in_dram(4));
  REQUIRE(fixture.cache().stats().total_slabs == 0);
  REQUIRE(fixture.cache().stats().free_slabs == 4);
  REQUIRE(fixture.cache().stats().limit_bytes == 4 << 20);
  fixture.set("key", "value");
  fixture.set("large", std::string(400'000, 'x'));
  const CacheStats stats = fixture.cache().stats();
  REQUIRE(stats.total_slabs == 2);
  REQUIRE(stats.free_slabs == 2);
  for (const engine::ClassStats& of_class : stats.classes) {
    REQUIRE(of_class.total_slots == of_class.slabs * of_class.slots_per_slab);
    REQUIRE(of_class.used_slots + of_class.free_slots == of_class.total_slots);
    REQUIRE(of_class.used_slots == of_class.items);
    REQUIRE(of_class.slot_bytes * uint64_t{of_class.slots_per_slab} <= 1 << 20);
  }
  REQUIRE(stats.hash_buckets * 64 <= stats.hash_bytes);
  REQUIRE(stats.metadata_bytes > 0);
}

TEST_CASE("evictions tell what was evicted: never read, with a time to live, how long idle") {
  CacheFixture fixture(in_dram(2));
  const std::string value(100'000, 'x');
  fixture.set("timed", value, 0, 1'000);
  fixture.set("read", value);
  fixture.get("read");
  fixture.set("neither", value);
  fixture.advance(50);
  int stored = 0;
  while (fixture.cache().stats().evictions < 3) {
    fixture.set("key:" + std::to_string(stored++), value);
  }
  const CacheStats stats = fixture.cache().stats();
  const auto& of_class = stats.classes[class_of(fixture, 32 + 5 + value.size())];
  REQUIRE(of_class.evicted == 3);
  REQUIRE(of_class.evicted_nonzero == 1);
  REQUIRE(of_class.evicted_unfetched == 2);
  REQUIRE(of_class.evicted_time == 50);
  REQUIRE(stats.evicted_unfetched == 2);
  REQUIRE_FALSE(fixture.get("timed"));
}

TEST_CASE("a reset zeroes counters and leaves gauges") {
  CacheFixture fixture(in_dram(4));
  const std::string value(100'000, 'x');
  {
    CacheClient ended(fixture.cache());  // Its counts outlive it.
    ended.set("key", "5");
    ended.get("key");
    ended.get("absent");
  }
  for (int i = 0; i < 100; ++i) {
    fixture.set("key:" + std::to_string(i), value);  // Evicts.
  }
  fixture.set("other size", std::string(5'000, 'x'));  // Moves a slab.
  CacheStats stats = fixture.cache().stats();
  REQUIRE(stats.get_hits == 1);
  REQUIRE(stats.evictions > 0);
  REQUIRE(stats.slab_moves > 0);
  const uint64_t items = stats.curr_items;

  fixture.cache().reset_stats();
  stats = fixture.cache().stats();
  REQUIRE(stats.get_cmds + stats.get_hits + stats.get_misses + stats.set_cmds == 0);
  REQUIRE(stats.total_items == 0);
  REQUIRE(stats.evictions == 0);
  REQUIRE(stats.slab_moves == 0);
  for (const engine::ClassStats& of_class : stats.classes) {
    REQUIRE(of_class.get_hits + of_class.set_cmds + of_class.evicted == 0);
    REQUIRE(of_class.out_of_memory == 0);
  }
  REQUIRE(stats.curr_items == items);
  REQUIRE(stats.bytes > 0);
  fixture.get("key:99");
  REQUIRE(fixture.cache().stats().get_cmds == 1);
}

TEST_CASE("item sizes are counted in steps of 32 bytes") {
  CacheFixture fixture(in_dram());
  fixture.set("k", std::string(31, 'x'));       // 64 bytes in all
  fixture.set("l", std::string(32, 'x'));       // 65
  fixture.set("m", std::string(63, 'x'));       // 96
  fixture.set("n", std::string(700'000, 'x'));  // 700,033, in chunks
  const engine::Session::Turn turn(fixture.session());
  const auto sizes = fixture.cache().item_sizes(fixture.session());
  REQUIRE(sizes == std::vector<std::pair<uint32_t, uint64_t>>{{64, 1}, {96, 2}, {700'064, 1}});
}

}  // namespace
}  // namespace pmcached::tests
