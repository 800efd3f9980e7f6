#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>

#include "engine/reclaim/epoch.h"
#include "engine/reclaim/grace_period.h"

namespace pmcached::engine {
namespace {

TEST_CASE("without participants a tag is safe once its epoch is over") {
  EpochRegistry epochs;
  const uint64_t tag = epochs.retire_tag();
  REQUIRE_FALSE(epochs.is_safe(tag));
  epochs.advance();
  REQUIRE(epochs.is_safe(tag));
}

TEST_CASE("a turn that began before the retirement keeps it unsafe until it ends") {
  EpochRegistry epochs;
  EpochRegistry::Participant reader(epochs);
  reader.enter();
  const uint64_t tag = epochs.retire_tag();
  for (int i = 0; i < 3; ++i) {
    epochs.advance();
    REQUIRE_FALSE(epochs.is_safe(tag));
  }
  SECTION("by leaving") {
    reader.leave();
  }
  SECTION("by being quiescent") {
    reader.quiesce();
    REQUIRE(epochs.is_safe(tag));
    reader.leave();
  }
  REQUIRE(epochs.is_safe(tag));
}

TEST_CASE("every participant counts, and none that is offline or gone") {
  EpochRegistry epochs;
  EpochRegistry::Participant first(epochs);
  auto second = std::make_unique<EpochRegistry::Participant>(epochs);
  EpochRegistry::Participant offline(epochs);
  first.enter();
  second->enter();
  const uint64_t tag = epochs.retire_tag();
  epochs.advance();
  first.leave();
  REQUIRE_FALSE(epochs.is_safe(tag));
  second->leave();
  second.reset();
  REQUIRE(epochs.is_safe(tag));
}

TEST_CASE("a turn that begins after the retirement's epoch does not hold it up") {
  EpochRegistry epochs;
  EpochRegistry::Participant reader(epochs);
  const uint64_t tag = epochs.retire_tag();
  epochs.advance();
  reader.enter();
  REQUIRE(epochs.is_safe(tag));
  const uint64_t later = epochs.retire_tag();
  REQUIRE(later > tag);
  epochs.advance();
  REQUIRE_FALSE(epochs.is_safe(later));
  reader.leave();
}

TEST_CASE("waiting for a grace period ends with success, or by itself") {
  EpochRegistry epochs;
  EpochRegistry::Participant waiting(epochs);
  EpochRegistry::Participant reader(epochs);
  waiting.enter();
  reader.enter();
  const uint64_t tag = epochs.retire_tag();
  const auto is_safe = [&] { return epochs.is_safe(tag); };
  REQUIRE_FALSE(await_grace_period(epochs, waiting, is_safe));
  reader.leave();
  REQUIRE(await_grace_period(epochs, waiting, is_safe));
  waiting.leave();
}

TEST_CASE("nothing is reclaimed under a reader that found it") {
  constexpr uint64_t kAlive = 0x600d;
  constexpr uint64_t kReclaimed = 0xdead;
  EpochRegistry epochs;
  std::atomic<uint64_t> boxes[64];
  for (auto& box : boxes) {
    box.store(kAlive, std::memory_order_relaxed);
  }
  std::atomic<uint32_t> current{0};
  std::atomic<bool> running{true};
  std::atomic<uint64_t> mistakes{0};
  const auto read = [&] {
    EpochRegistry::Participant reader(epochs);
    while (running.load(std::memory_order_relaxed)) {
      reader.enter();
      const uint32_t found = current.load(std::memory_order_acquire);
      for (int i = 0; i < 20; ++i) {
        const bool whole = boxes[found].load(std::memory_order_relaxed) == kAlive;
        mistakes.fetch_add(whole ? 0 : 1, std::memory_order_relaxed);
      }
      reader.leave();
    }
  };
  std::thread first(read);
  std::thread second(read);
  for (uint32_t next = 1; next < 300; ++next) {
    const uint32_t old = current.load(std::memory_order_relaxed);
    boxes[next % 64].store(kAlive, std::memory_order_relaxed);
    current.store(next % 64, std::memory_order_release);
    const uint64_t tag = epochs.retire_tag();
    while (!epochs.is_safe(tag)) {
      epochs.advance();
      std::this_thread::yield();
    }
    boxes[old].store(kReclaimed, std::memory_order_relaxed);
  }
  running.store(false, std::memory_order_relaxed);
  first.join();
  second.join();
  REQUIRE(mistakes.load() == 0);
}

}  // namespace
}  // namespace pmcached::engine
