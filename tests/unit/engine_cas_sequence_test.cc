#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "engine/cas_sequence.h"
#include "tests/support/cache_fixture.h"
#include "tests/support/slot_fixture.h"

namespace pmcached::tests {
namespace {

using engine::CasSequence;

uint64_t store_and_get_cas(CacheFixture& fixture, const std::string& key) {
  uint64_t cas = 0;
  REQUIRE(fixture.store(engine::StoreMode::kSet, key, "value", 0, 0, 0, &cas) ==
          engine::Outcome::kStored);
  REQUIRE(fixture.get(key)->cas == cas);
  return cas;
}

TEST_CASE("CAS numbers go on without a gap after a clean stop") {
  CacheFixture fixture;
  const uint64_t before = store_and_get_cas(fixture, "a");
  fixture.restart_cleanly();
  REQUIRE(fixture.get("a")->cas == before);
  REQUIRE(store_and_get_cas(fixture, "b") == before + 1);
}

TEST_CASE("no CAS number is given out twice across crashes, even if its item is gone") {
  CacheFixture fixture;
  uint64_t last = 0;
  for (int crash = 0; crash < 5; ++crash) {
    const uint64_t cas = store_and_get_cas(fixture, "a");
    REQUIRE(cas > last);
    last = store_and_get_cas(fixture, "b");
    fixture.remove("a");
    fixture.remove("b");
    fixture.restart_after_crash();
  }
  REQUIRE(store_and_get_cas(fixture, "a") > last);
}

TEST_CASE("numbers are unique and below the durable limit, from any thread and past any block") {
  std::unique_ptr<pmem::Region> region;
  require_ok(pmem::make_dram_region(uint64_t{1} << 20, {1}, &region));
  CasSequence sequence(region->run_state(), 1);
  REQUIRE(sequence.last() == 0);
  REQUIRE(region->run_state().get().cas_limit > 1);
  constexpr uint64_t kEach = CasSequence::kBlock;
  std::vector<std::vector<uint64_t>> numbers(2);
  std::vector<std::thread> threads;
  for (std::vector<uint64_t>& own : numbers) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < kEach; ++i) {
        own.push_back(sequence.next());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::vector<uint64_t> all = numbers[0];
  REQUIRE(std::is_sorted(all.begin(), all.end()));
  all.insert(all.end(), numbers[1].begin(), numbers[1].end());
  std::sort(all.begin(), all.end());
  REQUIRE(std::adjacent_find(all.begin(), all.end()) == all.end());
  REQUIRE(all.front() == 1);
  REQUIRE(all.back() == 2 * kEach);
  REQUIRE(sequence.last() == all.back());
  REQUIRE(region->run_state().get().cas_limit > all.back());
}

TEST_CASE("a sequence that resumes reserves numbers before it gives one out") {
  std::unique_ptr<pmem::Region> region;
  require_ok(pmem::make_dram_region(uint64_t{1} << 20, {1}, &region));
  const CasSequence sequence(region->run_state(), 5'000'000);
  REQUIRE(region->run_state().get().cas_limit > 5'000'000);
}

TEST_CASE("cas stores only over the version that was read") {
  CacheFixture fixture;
  const auto cas_store = [&](uint64_t expected) {
    return fixture.store(engine::StoreMode::kCas, "key", "new", 0, 0, expected);
  };
  REQUIRE(cas_store(1) == engine::Outcome::kNotFound);
  const uint64_t first = store_and_get_cas(fixture, "key");
  REQUIRE(cas_store(first + 1) == engine::Outcome::kExists);
  REQUIRE(cas_store(first) == engine::Outcome::kStored);
  REQUIRE(cas_store(first) == engine::Outcome::kExists);
  // A touch is no new version.
  const uint64_t second = fixture.get("key")->cas;
  fixture.touch("key", 100);
  REQUIRE(cas_store(second) == engine::Outcome::kStored);
}

TEST_CASE("with CAS off, cas commands are held against 0") {
  CacheFixture::Config config;
  config.persistent = false;
  config.options.cas_enabled = false;
  CacheFixture fixture(config);
  fixture.set("key", "old");
  REQUIRE(fixture.store(engine::StoreMode::kCas, "key", "new", 0, 0, 17) ==
          engine::Outcome::kExists);
  REQUIRE(fixture.store(engine::StoreMode::kCas, "key", "new", 0, 0, 0) ==
          engine::Outcome::kStored);
}

}  // namespace
}  // namespace pmcached::tests
