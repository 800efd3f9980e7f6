#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/cache_fixture.h"
#include "tests/support/slot_accounting.h"
#include "tests/support/thread_team.h"

namespace pmcached::tests {
namespace {

using engine::Outcome;
using engine::StoreMode;

constexpr uint32_t kThreads = 4;

CacheFixture::Config config_for(bool persistent) {
  CacheFixture::Config config;
  config.persistent = persistent;
  return config;
}

TEST_CASE("increments from many threads add up exactly") {
  const bool persistent = GENERATE(false, true);
  CAPTURE(persistent);
  CacheFixture fixture(config_for(persistent));
  const std::vector<std::string> keys = {"a", "b", "c"};
  for (const std::string& key : keys) {
    fixture.set(key, "0", 7);
  }
  const int each = rounds(8'000);
  ThreadTeam team(fixture.cache(), test_seed());
  team.add(kThreads, [&](CacheClient& client, uint32_t, ThreadTeam::Random&) {
    for (int i = 0; i < each; ++i) {
      for (const std::string& key : keys) {
        team.expect(client.add(key, 3, true).outcome == Outcome::kChanged, "an incr failed");
        team.expect(client.add(key, 1, false).outcome == Outcome::kChanged, "a decr failed");
      }
    }
  });
  team.run();
  for (const std::string& key : keys) {
    // A number that became shorter is padded with spaces, so only its value counts.
    REQUIRE(engine::parse_number(fixture.value(key).value()) ==
            static_cast<uint64_t>(each) * kThreads * 2);
    REQUIRE(fixture.get(key)->client_flags == 7);
  }
  const engine::CacheStats stats = fixture.cache().stats();
  REQUIRE(stats.incr_hits == static_cast<uint64_t>(each) * kThreads * keys.size());
  REQUIRE(stats.decr_hits == stats.incr_hits);
  require_consistent(fixture, keys);
}

TEST_CASE("nothing that many threads append or prepend to one item is lost or out of order") {
  const bool persistent = GENERATE(false, true);
  CAPTURE(persistent);
  CacheFixture fixture(config_for(persistent));
  fixture.set("log", "");
  const int each = rounds(1'600);
  ThreadTeam team(fixture.cache(), test_seed());
  team.add(kThreads, [&](CacheClient& client, uint32_t number, ThreadTeam::Random&) {
    const StoreMode mode = number % 2 == 0 ? StoreMode::kAppend : StoreMode::kPrepend;
    for (int i = 0; i < each; ++i) {
      const std::string entry = std::to_string(number) + ':' + std::to_string(i) + ' ';
      team.expect(client.store(mode, "log", entry) == Outcome::kStored, "an append failed");
    }
  });
  team.run();

  std::vector<std::vector<int>> entries(kThreads);
  std::istringstream log(fixture.value("log").value());
  for (std::string entry; log >> entry;) {
    const size_t colon = entry.find(':');
    REQUIRE(colon != std::string::npos);
    entries.at(std::stoul(entry)).push_back(std::stoi(entry.substr(colon + 1)));
  }
  for (uint32_t number = 0; number < kThreads; ++number) {
    if (number % 2 != 0) {
      std::reverse(entries[number].begin(), entries[number].end());
    }
    REQUIRE(entries[number].size() == static_cast<size_t>(each));
    REQUIRE(std::is_sorted(entries[number].begin(), entries[number].end()));
  }
  require_consistent(fixture, {"log"});
}

TEST_CASE("compare-and-swap loops of many threads lose no update") {
  CacheFixture fixture(config_for(GENERATE(false, true)));
  fixture.set("counter", "0");
  const int each = rounds(8'000);
  ThreadTeam team(fixture.cache(), test_seed());
  team.add(kThreads, [&](CacheClient& client, uint32_t, ThreadTeam::Random&) {
    for (int done = 0; done < each;) {
      const auto item = client.get("counter");
      if (!item) {
        team.complain("false miss");
        return;
      }
      const std::string next = std::to_string(std::stoull(item->value) + 1);
      uint64_t cas = 0;
      const Outcome outcome = client.store(StoreMode::kCas, "counter", next, 0, 0, item->cas, &cas);
      team.expect(outcome == Outcome::kStored || outcome == Outcome::kExists, "a cas failed");
      if (outcome == Outcome::kStored) {
        team.expect(cas > item->cas, "a new CAS number is not above the old one");
        ++done;
      }
    }
  });
  team.run();
  REQUIRE(fixture.value("counter") == std::to_string(each * static_cast<int>(kThreads)));
  require_consistent(fixture, {"counter"});
}

TEST_CASE("of many threads that add or delete one key, exactly one succeeds each time") {
  CacheFixture fixture(config_for(GENERATE(false, true)));
  const int count = rounds(8'000);
  std::vector<std::atomic<uint32_t>> added(static_cast<size_t>(count));
  std::vector<std::atomic<uint32_t>> deleted(static_cast<size_t>(count));
  std::vector<std::string> keys;
  for (int i = 0; i < count; ++i) {
    keys.push_back("key:" + std::to_string(i));
  }
  ThreadTeam team(fixture.cache(), test_seed());
  team.add(kThreads, [&](CacheClient& client, uint32_t number, ThreadTeam::Random&) {
    for (size_t i = 0; i < keys.size(); ++i) {
      const Outcome outcome = client.store(StoreMode::kAdd, keys[i], std::to_string(number));
      if (outcome == Outcome::kStored) {
        added[i].fetch_add(1, std::memory_order_relaxed);
        team.expect(client.value(keys[i]) == std::to_string(number), "the winner's value is lost");
      } else {
        team.expect(outcome == Outcome::kNotStored, "an add failed");
      }
    }
  });
  team.run();
  for (const auto& winners : added) {
    REQUIRE(winners.load() == 1);
  }
  team.add(kThreads, [&](CacheClient& client, uint32_t, ThreadTeam::Random&) {
    for (size_t i = 0; i < keys.size(); i += 2) {
      if (client.remove(keys[i]) == Outcome::kDeleted) {
        deleted[i].fetch_add(1, std::memory_order_relaxed);
      }
    }
  });
  team.run();
  for (size_t i = 0; i < keys.size(); ++i) {
    REQUIRE(deleted[i].load() == (i % 2 == 0 ? 1 : 0));
    REQUIRE(fixture.get(keys[i]).has_value() == (i % 2 != 0));
  }
  require_consistent(fixture, keys);
}

}  // namespace
}  // namespace pmcached::tests
