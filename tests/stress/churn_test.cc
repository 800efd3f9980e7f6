#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/cache_fixture.h"
#include "tests/support/slot_accounting.h"
#include "tests/support/stamped_value.h"
#include "tests/support/thread_team.h"

namespace pmcached::tests {
namespace {

using engine::Outcome;

constexpr uint32_t kWriters = 2;

/// Sizes of which a small pool holds far fewer than there are keys: most are small, some take a
/// slot of a large class, a few are chunked.
size_t size_of_value(uint64_t random) {
  const uint64_t part = random >> 8;
  switch (random % 16) {
    case 0:
      return 600'000 + part % 2'400'000;
    case 1:
    case 2:
      return 10'000 + part % 90'000;
    default:
      return 50 + part % 4'000;
  }
}

std::vector<std::string> numbered_keys(size_t count) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; ++i) {
    keys.push_back("key:" + std::to_string(i));
  }
  return keys;
}

CacheFixture::Config churn_config(bool persistent) {
  CacheFixture::Config config;
  config.persistent = persistent;
  config.options.item_size_max_bytes = uint64_t{4} << 20;
  return config;
}

/// A reply that a slow client has not taken yet: views of the pool, kept by a pin beyond the turn.
class SlowReply {
 public:
  SlowReply(CacheClient& client, const std::string& key) : key_(key) {
    const engine::Session::Turn turn(client.session());
    engine::ItemView view;
    if (client.cache().get(client.session(), engine::hash_key(key), &view)) {
      pin_ = client.cache().pin(view);
      for (uint32_t i = 0; i < view.segment_count(); ++i) {
        segments_.push_back(view.segment(i));
      }
    }
  }
  bool found() const { return static_cast<bool>(pin_); }
  /// Whether the bytes are still those of one whole value of the key.
  bool is_whole() const {
    std::string value;
    for (const std::string_view segment : segments_) {
      value += segment;
    }
    return read_stamp(key_, value).has_value();
  }

 private:
  std::string key_;
  engine::Pin pin_;
  std::vector<std::string_view> segments_;
};

TEST_CASE(
    "under eviction and overwriting of all sizes no value is torn, stale or foreign, and "
    "pinned bytes stay") {
  const bool persistent = GENERATE(false, true);
  CAPTURE(persistent);
  CacheFixture fixture(churn_config(persistent));
  const std::vector<std::string> keys = numbered_keys(2'000);
  std::vector<std::atomic<uint64_t>> acknowledged(keys.size());
  ThreadTeam team(fixture.cache(), test_seed());
  std::atomic<uint32_t> writing{kWriters};
  // Each key has one writer, so that readers can tell a stale value.
  team.add(kWriters, [&](CacheClient& client, uint32_t number, ThreadTeam::Random& random) {
    for (uint64_t i = 1; i <= static_cast<uint64_t>(rounds(6'000)); ++i) {
      const size_t key = random() % (keys.size() / kWriters) * kWriters + number;
      if (random() % 8 == 0) {
        client.remove(keys[key]);
        acknowledged[key].store(i, std::memory_order_release);
        team.expect(!client.get(keys[key]), "a deleted item is still there");
        continue;
      }
      const std::string value =
          stamped_value(keys[key], {.writer = number, .sequence = i}, size_of_value(random()));
      const Outcome outcome = client.set(keys[key], value);
      team.expect(outcome == Outcome::kStored, "a cache that may evict ran out of memory");
      acknowledged[key].store(i, std::memory_order_release);
    }
    writing.fetch_sub(1, std::memory_order_relaxed);
  });
  team.add([&](CacheClient& client, uint32_t, ThreadTeam::Random& random) {
    while (writing.load(std::memory_order_relaxed) != 0) {
      const size_t key = random() % keys.size();
      const uint64_t oldest = acknowledged[key].load(std::memory_order_acquire);
      if (const auto value = client.value(keys[key])) {
        const auto stamp = read_stamp(keys[key], *value);
        team.expect(stamp.has_value(), "a value is torn or foreign");
        team.expect(!stamp || stamp->sequence >= oldest, "a value is stale");
      }
    }
  });
  team.add([&](CacheClient& client, uint32_t, ThreadTeam::Random& random) {
    constexpr size_t kSlowClients = 6;
    std::deque<SlowReply> replies;
    while (writing.load(std::memory_order_relaxed) != 0) {
      if (SlowReply reply(client, keys[random() % keys.size()]); reply.found()) {
        replies.push_back(std::move(reply));
      }
      for (const SlowReply& reply : replies) {
        team.expect(reply.is_whole(), "pinned bytes changed");
      }
      if (replies.size() == kSlowClients) {
        replies.pop_front();
      }
    }
  });
  team.run();
  const engine::CacheStats stats = fixture.cache().stats();
  REQUIRE(stats.evictions > 0);
  REQUIRE(stats.store_no_memory == 0);
  require_consistent(fixture, keys);
}

TEST_CASE("threads that all store chunked values do not starve each other of chunks") {
  CacheFixture fixture(churn_config(false));
  const std::vector<std::string> keys = numbered_keys(64);
  ThreadTeam team(fixture.cache(), test_seed());
  team.add(4, [&](CacheClient& client, uint32_t number, ThreadTeam::Random& random) {
    for (int i = 0; i < rounds(200); ++i) {
      const std::string& key = keys[random() % keys.size()];
      const Stamp stamp{.writer = number, .sequence = static_cast<uint64_t>(i)};
      const std::string value = stamped_value(key, stamp, 600'000 + random() % 3'000'000);
      team.expect(client.set(key, value) == Outcome::kStored,
                  "a cache that may evict ran out of memory");
      if (const auto found = client.value(key)) {
        team.expect(read_stamp(key, *found).has_value(), "a value is torn or foreign");
      }
    }
  });
  team.run();
  require_consistent(fixture, keys);
}

TEST_CASE("statistics and item sizes are read while everything changes") {
  CacheFixture fixture(churn_config(false));
  const std::vector<std::string> keys = numbered_keys(2'000);
  std::atomic<uint32_t> writing{kWriters};
  ThreadTeam team(fixture.cache(), test_seed());
  team.add(kWriters, [&](CacheClient& client, uint32_t, ThreadTeam::Random& random) {
    for (int i = 0; i < rounds(4'000); ++i) {
      const std::string& key = keys[random() % keys.size()];
      client.set(key, stamped_value(key, {}, size_of_value(random())));
    }
    writing.fetch_sub(1, std::memory_order_relaxed);
  });
  team.add([&](CacheClient& client, uint32_t, ThreadTeam::Random&) {
    while (writing.load(std::memory_order_relaxed) != 0) {
      const engine::CacheStats stats = client.cache().stats();
      team.expect(stats.total_slabs + stats.free_slabs <= stats.limit_bytes / (1 << 20),
                  "more slabs than memory");
      const engine::Session::Turn turn(client.session());
      for (const auto& [bound, count] : client.cache().item_sizes(client.session())) {
        team.expect(bound % 32 == 0 && count > 0, "a wrong line of item sizes");
      }
    }
  });
  team.add([&](CacheClient& client, uint32_t, ThreadTeam::Random&) {
    while (writing.load(std::memory_order_relaxed) != 0) {
      CacheClient passing(client.cache());  // Sessions come and go.
      passing.get("key:1");
    }
  });
  team.run();
  const engine::CacheStats stats = fixture.cache().stats();
  REQUIRE(stats.set_cmds == static_cast<uint64_t>(rounds(4'000)) * kWriters);
  require_consistent(fixture, keys);
}

}  // namespace
}  // namespace pmcached::tests
