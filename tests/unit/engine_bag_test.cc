#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "engine/lru/bag.h"
#include "tests/support/slot_fixture.h"

namespace pmcached::engine {
namespace {

using tests::SlotFixture;
using Slots = std::vector<SlotReference>;

void append(SlotFixture& fixture, Bag& bag, SlotReference slot) {
  fixture.slots().meta(slot).update(0, SlotMeta::kInBag);
  bag.append(fixture.slots(), slot);
}
void append_all(SlotFixture& fixture, Bag& bag, const Slots& slots) {
  for (const SlotReference slot : slots) {
    append(fixture, bag, slot);
  }
}
Slots take_all(SlotFixture& fixture, Bag& bag) {
  Slots taken;
  uint64_t link = 0;
  for (SlotReference slot; (slot = bag.take(fixture.slots(), &link)) != kNoSlot;) {
    taken.push_back(slot);
  }
  return taken;
}
/// Takes `count` uncleaned slots and keeps them, as a cleaner that finds nothing to do.
void clean(SlotFixture& fixture, Bag& bag, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint64_t link = 0;
    const SlotReference slot = bag.take_uncleaned(fixture.slots(), &link);
    REQUIRE(slot != kNoSlot);
    fixture.slots().meta(slot).update(0, SlotMeta::kInBag);
    bag.keep(fixture.slots(), slot);
  }
}

TEST_CASE("slots leave a bag in the order in which they came") {
  SlotFixture fixture;
  Bag bag;
  REQUIRE(bag.empty());
  REQUIRE(bag.peek() == kNoSlot);
  REQUIRE(take_all(fixture, bag).empty());
  const Slots slots = fixture.live_slots(5);
  append_all(fixture, bag, slots);
  REQUIRE_FALSE(bag.empty());
  REQUIRE(bag.count() == 5);
  REQUIRE(bag.peek() == slots[0]);
  REQUIRE(take_all(fixture, bag) == slots);
  REQUIRE(bag.empty());
  REQUIRE(bag.count() == 0);
  append_all(fixture, bag, slots);  // An emptied bag serves again.
  REQUIRE(take_all(fixture, bag) == slots);
}

TEST_CASE("a slot that is taken is marked as in no bag, and its link word is handed out") {
  SlotFixture fixture;
  Bag bag;
  const SlotReference slot = fixture.live_slot();
  append(fixture, bag, slot);
  REQUIRE((fixture.slots().meta(slot).link.load() & SlotMeta::kInBag) != 0);
  fixture.slots().meta(slot).set_state(SlotState::kRetired);
  uint64_t link = 0;
  REQUIRE(bag.take(fixture.slots(), &link) == slot);
  REQUIRE(SlotMeta::state_of(link) == SlotState::kRetired);
  REQUIRE((fixture.slots().meta(slot).link.load() & SlotMeta::kInBag) == 0);
}

TEST_CASE("cleaning keeps the order, at whatever point it is interrupted") {
  SlotFixture fixture;
  const Slots slots = fixture.live_slots(10);
  const size_t cleaned = GENERATE(range(size_t{0}, size_t{7}));
  CAPTURE(cleaned);
  Bag bag;
  append_all(fixture, bag, {slots.begin(), slots.begin() + 6});
  bag.start_cleaning(fixture.slots());
  append_all(fixture, bag, {slots.begin() + 6, slots.end()});  // They arrive meanwhile.
  clean(fixture, bag, cleaned);
  REQUIRE(bag.fully_cleaned() == (cleaned == 6));
  REQUIRE(bag.count() == 10);
  SECTION("and ended by an eviction") {
    REQUIRE(take_all(fixture, bag) == slots);
  }
  SECTION("and begun anew") {
    bag.start_cleaning(fixture.slots());
    clean(fixture, bag, 10);
    REQUIRE(bag.fully_cleaned());
    REQUIRE(take_all(fixture, bag) == slots);
  }
}

TEST_CASE("what is merged into a newer bag goes before what that bag holds") {
  SlotFixture fixture;
  const Slots slots = fixture.live_slots(9);
  const size_t cleaned_of_older = GENERATE(0U, 2U);
  const size_t cleaned_of_newer = GENERATE(0U, 3U);
  Bag older;
  Bag newer;
  append_all(fixture, older, {slots.begin(), slots.begin() + 4});
  append_all(fixture, newer, {slots.begin() + 4, slots.end()});
  if (cleaned_of_older > 0) {
    older.start_cleaning(fixture.slots());
    clean(fixture, older, cleaned_of_older);
  }
  if (cleaned_of_newer > 0) {
    newer.start_cleaning(fixture.slots());
    clean(fixture, newer, cleaned_of_newer);
  }
  older.merge_into(fixture.slots(), newer);
  REQUIRE(older.empty());
  REQUIRE(older.count() == 0);
  REQUIRE(newer.count() == 9);
  REQUIRE(take_all(fixture, newer) == slots);
}

TEST_CASE("merging empty bags changes nothing") {
  SlotFixture fixture;
  const Slots slots = fixture.live_slots(3);
  Bag full;
  Bag empty;
  append_all(fixture, full, slots);
  empty.merge_into(fixture.slots(), full);
  full.merge_into(fixture.slots(), empty);
  REQUIRE(full.empty());
  REQUIRE(take_all(fixture, empty) == slots);
}

TEST_CASE("producers and the consumer lose no slot and duplicate none") {
  constexpr int kProducers = 3;
  constexpr int kSlotsEach = 200;
  constexpr int kRounds = 60;
  SlotFixture fixture;
  Bag bag;
  std::vector<Slots> owned(kProducers);
  for (Slots& slots : owned) {
    slots = fixture.live_slots(kSlotsEach);
  }
  std::atomic<uint64_t> appended{0};
  std::atomic<uint64_t> duplicates{0};
  std::vector<std::thread> producers;
  for (const Slots& slots : owned) {
    producers.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        for (const SlotReference slot : slots) {
          // Only a slot that has been taken out may go in again.
          while ((fixture.slots().meta(slot).link.load(std::memory_order_acquire) &
                  SlotMeta::kInBag) != 0) {
            std::this_thread::yield();
          }
          append(fixture, bag, slot);
          appended.fetch_add(1, std::memory_order_relaxed);
        }
      }
    });
  }
  uint64_t taken = 0;
  constexpr uint64_t kTotal = uint64_t{kProducers} * kSlotsEach * kRounds;
  for (uint64_t step = 0; taken < kTotal; ++step) {
    // All ways to consume, in turn.
    if (step % 64 == 0) bag.start_cleaning(fixture.slots());
    uint64_t link = 0;
    const SlotReference slot = step % 2 == 0 ? bag.take(fixture.slots(), &link)
                                             : bag.take_uncleaned(fixture.slots(), &link);
    if (slot == kNoSlot) {
      std::this_thread::yield();
      continue;
    }
    duplicates.fetch_add((link & SlotMeta::kInBag) == 0 ? 1 : 0, std::memory_order_relaxed);
    ++taken;
  }
  for (std::thread& producer : producers) {
    producer.join();
  }
  REQUIRE(appended.load() == kTotal);
  REQUIRE(duplicates.load() == 0);
  REQUIRE(take_all(fixture, bag).empty());
  REQUIRE(bag.empty());
  REQUIRE(bag.count() == 0);
}

TEST_CASE("a bag that is emptied at the moment at which a slot is appended keeps that slot") {
  constexpr int kRounds = 5'000;
  constexpr int kPatience = 1'000'000;
  SlotFixture fixture;
  Bag bag;
  const Slots slots = fixture.live_slots(2);
  std::atomic<int> round{0};
  std::atomic<bool> failed{false};
  std::thread producer([&] {
    for (int next = 1; next <= kRounds; ++next) {
      for (int spins = 0; round.load(std::memory_order_acquire) != next; ++spins) {
        if (failed.load(std::memory_order_relaxed)) return;
        if (spins > 1'000) std::this_thread::yield();
      }
      append(fixture, bag, slots[1]);
    }
  });
  for (int next = 1; next <= kRounds && !failed.load(std::memory_order_relaxed); ++next) {
    append(fixture, bag, slots[0]);
    round.store(next, std::memory_order_release);
    Slots taken;
    for (int tries = 0; taken.size() < 2 && tries < kPatience; ++tries) {
      uint64_t link = 0;
      if (const SlotReference slot = bag.take(fixture.slots(), &link); slot != kNoSlot) {
        taken.push_back(slot);
      } else if (tries > 1'000) {
        std::this_thread::yield();
      }
    }
    failed.store(taken != slots, std::memory_order_relaxed);
  }
  producer.join();
  REQUIRE_FALSE(failed.load());
  REQUIRE(bag.empty());
}

}  // namespace
}  // namespace pmcached::engine
