#include <array>
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

/// Keys that one writer each overwrites for ever, and what readers may expect of them.
class OverwrittenKeys {
 public:
  OverwrittenKeys(CacheClient& client, uint32_t count, size_t max_bytes)
      : max_bytes_(max_bytes), acknowledged_(count) {
    for (uint32_t i = 0; i < count; ++i) {
      names_.push_back("hot:" + std::to_string(i));
      REQUIRE(client.set(names_.back(), stamped_value(names_.back(), {.writer = i}, 100)) ==
              Outcome::kStored);
    }
  }

  const std::vector<std::string>& names() const { return names_; }
  uint32_t count() const { return static_cast<uint32_t>(names_.size()); }

  /// One store by the key's only writer.
  void overwrite(CacheClient& client, uint32_t key, ThreadTeam::Random& random, ThreadTeam* team) {
    const uint64_t sequence = acknowledged_[key].load(std::memory_order_relaxed) + 1;
    const std::string value =
        stamped_value(names_[key], {.writer = key, .sequence = sequence}, random() % max_bytes_);
    team->expect(client.set(names_[key], value) == Outcome::kStored, "a set of a hot key failed");
    // Release pairs with the acquire in check(): from here on, older values are stale.
    acknowledged_[key].store(sequence, std::memory_order_release);
  }
  /// One get by anybody: never a miss, never torn, never older than what was acknowledged before.
  void check(CacheClient& client, uint32_t key, ThreadTeam* team) {
    const uint64_t oldest = acknowledged_[key].load(std::memory_order_acquire);
    const auto value = client.value(names_[key]);
    if (!value) {
      team->complain("false miss of " + names_[key]);
      return;
    }
    const auto stamp = read_stamp(names_[key], *value);
    if (!stamp) {
      team->complain("torn or foreign value of " + names_[key]);
    } else if (stamp->sequence < oldest) {
      team->complain("stale value of " + names_[key]);
    }
  }

 private:
  size_t max_bytes_;
  std::vector<std::string> names_;
  std::vector<std::atomic<uint64_t>> acknowledged_;
};

CacheFixture::Config hot_config(bool persistent) {
  CacheFixture::Config config;
  config.persistent = persistent;
  config.bytes = uint64_t{128} << 20;
  config.options.initial_hash_power = 10;
  return config;
}

TEST_CASE("readers of few hot keys see whole values, none older than the last acknowledged") {
  const bool persistent = GENERATE(false, true);
  CAPTURE(persistent);
  CacheFixture fixture(hot_config(persistent));
  OverwrittenKeys keys(fixture, 8, 8000);
  ThreadTeam team(fixture.cache(), test_seed());
  for (const uint32_t first : {0U, 1U}) {
    team.add([&, first](CacheClient& client, uint32_t, ThreadTeam::Random& random) {
      for (int i = 0; i < rounds(40'000); ++i) {
        const auto key = static_cast<uint32_t>(first + random() % (keys.count() / 2) * 2);
        keys.overwrite(client, key, random, &team);
      }
    });
  }
  team.add(2, [&](CacheClient& client, uint32_t, ThreadTeam::Random& random) {
    for (int i = 0; i < rounds(80'000); ++i) {
      keys.check(client, static_cast<uint32_t>(random() % keys.count()), &team);
    }
  });
  team.run();
  require_consistent(fixture, keys.names());
}

TEST_CASE("a key that is always present is never missed while the table grows") {
  CacheFixture fixture(hot_config(false));
  OverwrittenKeys keys(fixture, 256, 300);
  const uint64_t buckets_before = fixture.cache().stats().hash_buckets;
  const int others = rounds(200'000);
  std::atomic<bool> growing{true};
  ThreadTeam team(fixture.cache(), test_seed());
  team.add([&](CacheClient& client, uint32_t, ThreadTeam::Random&) {
    for (int i = 0; i < others; ++i) {
      team.expect(client.set("other:" + std::to_string(i), "x") == Outcome::kStored,
                  "an insertion failed");
    }
    growing.store(false, std::memory_order_relaxed);
  });
  team.add([&](CacheClient& client, uint32_t, ThreadTeam::Random& random) {
    while (growing.load(std::memory_order_relaxed)) {
      keys.overwrite(client, static_cast<uint32_t>(random() % keys.count()), random, &team);
    }
  });
  team.add(2, [&](CacheClient& client, uint32_t, ThreadTeam::Random& random) {
    while (growing.load(std::memory_order_relaxed)) {
      keys.check(client, static_cast<uint32_t>(random() % keys.count()), &team);
    }
  });
  team.run();
  wait_until("the table has grown to its load", [&] {
    return fixture.cache().stats().hash_buckets >= static_cast<uint64_t>(others) / 6;
  });
  REQUIRE(fixture.cache().stats().hash_buckets > buckets_before);
  std::vector<std::string> names = keys.names();
  for (int i = 0; i < others; ++i) {
    names.push_back("other:" + std::to_string(i));
    REQUIRE(fixture.value(names.back()) == "x");
  }
  require_consistent(fixture, names);
}

TEST_CASE("reading CAS numbers of one key never goes back") {
  CacheFixture fixture(hot_config(false));
  fixture.set("key", "start");
  std::atomic<bool> writing{true};
  ThreadTeam team(fixture.cache(), test_seed());
  std::atomic<uint32_t> writers_left{2};
  team.add(2, [&](CacheClient& client, uint32_t number, ThreadTeam::Random&) {
    for (int i = 0; i < rounds(40'000); ++i) {
      client.set("key", std::to_string(number));
    }
    if (writers_left.fetch_sub(1, std::memory_order_relaxed) == 1) {
      writing.store(false, std::memory_order_relaxed);
    }
  });
  team.add(2, [&](CacheClient& client, uint32_t, ThreadTeam::Random&) {
    uint64_t last = 0;
    while (writing.load(std::memory_order_relaxed)) {
      const auto item = client.get("key");
      if (!item) {
        team.complain("false miss");
      } else {
        team.expect(item->cas >= last, "a CAS number went back");
        last = item->cas;
      }
    }
  });
  team.run();
  require_consistent(fixture, {"key"});
}

}  // namespace
}  // namespace pmcached::tests
