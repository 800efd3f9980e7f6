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
using engine::StoreMode;

CacheFixture::Config config_for(bool persistent) {
  CacheFixture::Config config;
  config.persistent = persistent;
  return config;
}

/// Changes an item in a way that needs it to be there.
void derive(CacheClient& client, const std::string& key, uint64_t kind) {
  switch (kind % 6) {
    case 0:
      client.add(key, 1, true);
      break;
    case 1:
      client.store(StoreMode::kAppend, key, "1");
      break;
    case 2:
      client.store(StoreMode::kPrepend, key, "1");
      break;
    case 3:
      client.store(StoreMode::kReplace, key, "1");
      break;
    case 4:
      client.touch(key, 100);
      break;
    default:
      if (const auto item = client.get(key)) {
        client.store(StoreMode::kCas, key, "1", 0, 0, item->cas);
      }
  }
}

TEST_CASE("what is derived from a flushed item does not outlive the flush") {
  const bool persistent = GENERATE(false, true);
  CAPTURE(persistent);
  CacheFixture fixture(config_for(persistent));
  std::atomic<bool> flushing{true};
  ThreadTeam team(fixture.cache(), test_seed());
  team.add([&](CacheClient& client, uint32_t, ThreadTeam::Random&) {
    for (int i = 0; i < rounds(40'000); ++i) {
      team.expect(client.set("1", "1") == Outcome::kStored, "a set failed");
      client.flush_all();
      // Nobody else creates the key, so once it is gone it stays away.
      for (int look = 0; look < 3; ++look) {
        team.expect(!client.get("1"), "a flushed item came back");
      }
    }
    flushing.store(false, std::memory_order_relaxed);
  });
  team.add(2, [&](CacheClient& client, uint32_t, ThreadTeam::Random& random) {
    while (flushing.load(std::memory_order_relaxed)) {
      derive(client, "1", random());
    }
  });
  team.run();
  fixture.set("1", "1");  // Takes the place of the flushed record, which nobody has removed yet.
  require_consistent(fixture, {"1"});
}

TEST_CASE("what is derived from a deleted item does not bring it back") {
  const bool persistent = GENERATE(false, true);
  CAPTURE(persistent);
  CacheFixture fixture(config_for(persistent));
  std::atomic<bool> deleting{true};
  ThreadTeam team(fixture.cache(), test_seed());
  team.add([&](CacheClient& client, uint32_t, ThreadTeam::Random&) {
    for (int i = 0; i < rounds(80'000); ++i) {
      team.expect(client.set("1", "1") == Outcome::kStored, "a set failed");
      team.expect(client.remove("1") == Outcome::kDeleted, "a delete found nothing");
      team.expect(!client.get("1"), "a deleted item came back");
    }
    deleting.store(false, std::memory_order_relaxed);
  });
  team.add(2, [&](CacheClient& client, uint32_t, ThreadTeam::Random& random) {
    while (deleting.load(std::memory_order_relaxed)) {
      derive(client, "1", random());
    }
  });
  team.run();
  require_consistent(fixture, {"1"});
}

TEST_CASE("touches meet overwrites without loss: values stay whole and present") {
  CacheFixture fixture(config_for(true));
  std::vector<std::string> keys;
  for (int i = 0; i < 16; ++i) {
    keys.push_back("key:" + std::to_string(i));
    fixture.set(keys.back(), stamped_value(keys.back(), {}, 200), 0, 10);
  }
  ThreadTeam team(fixture.cache(), test_seed());
  team.add([&](CacheClient& client, uint32_t number, ThreadTeam::Random& random) {
    for (int i = 0; i < rounds(40'000); ++i) {
      const std::string& key = keys[random() % keys.size()];
      const Stamp stamp{.writer = number, .sequence = static_cast<uint64_t>(i)};
      team.expect(client.set(key, stamped_value(key, stamp, 200), 0, 10) == Outcome::kStored,
                  "a set failed");
    }
  });
  team.add(2, [&](CacheClient& client, uint32_t, ThreadTeam::Random& random) {
    for (int i = 0; i < rounds(40'000); ++i) {
      const std::string& key = keys[random() % keys.size()];
      team.expect(client.touch(key, 100) == Outcome::kTouched, "a touch found nothing");
      const auto value = client.get_and_touch(key, 50);
      team.expect(value && read_stamp(key, *value), "a get-and-touch found nothing whole");
    }
  });
  team.run();
  for (const std::string& key : keys) {
    const uint32_t left = fixture.get(key)->exptime - fixture.cache().clock().now();
    REQUIRE((left == 10 || left == 50 || left == 100));
  }
  require_consistent(fixture, keys);
}

}  // namespace
}  // namespace pmcached::tests
