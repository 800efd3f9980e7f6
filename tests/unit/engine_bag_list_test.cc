#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <thread>
#include <vector>

#include "engine/lru/bag_list.h"
#include "tests/support/slot_fixture.h"

namespace pmcached::engine {
namespace {

using tests::SlotFixture;
using Slots = std::vector<SlotReference>;

/// A bag list over slots that look as if they held items.
struct Fixture {
  SlotFixture slots;
  BagList list{slots.slots()};

  SlotMeta& meta(SlotReference slot) { return slots.slots().meta(slot); }
  SlotReference insert_new() {
    const SlotReference slot = slots.live_slot();
    list.start(meta(slot));
    list.insert(slot);
    return slot;
  }
  Slots insert_new(size_t count) {
    Slots inserted;
    for (size_t i = 0; i < count; ++i) {
      inserted.push_back(insert_new());
    }
    return inserted;
  }
  void touch(SlotReference slot) { list.touch(meta(slot)); }
  void open_bag() {
    MutexLock lock(list.mutex());
    REQUIRE(list.open_bag_if_full(true));
  }
  Slots evict_all() {
    Slots order;
    MutexLock lock(list.mutex());
    for (SlotReference slot; (slot = list.take_oldest(100'000)) != kNoSlot;) {
      order.push_back(slot);
    }
    return order;
  }
  /// A whole cleaning pass, `step` slots at a time. Returns what the judge was asked about.
  Slots clean_all(uint64_t step, const BagList::Judge& judge = {}) {
    Slots asked;
    BagList::Position position;
    for (bool finished = false; !finished;) {
      MutexLock lock(list.mutex());
      finished = list.clean(&position, step, [&](SlotReference slot, SlotMeta& slot_meta) {
        asked.push_back(slot);
        return judge ? judge(slot, slot_meta) : BagList::Verdict::kKeep;
      });
    }
    return asked;
  }
};

Slots joined(std::initializer_list<Slots> parts) {
  Slots all;
  for (const Slots& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

TEST_CASE("an empty list has nothing to evict and opens no bags") {
  Fixture fixture;
  REQUIRE(fixture.list.idle());
  REQUIRE(fixture.evict_all().empty());
  MutexLock lock(fixture.list.mutex());
  REQUIRE_FALSE(fixture.list.open_bag_if_full(true));
}

TEST_CASE("untouched items are evicted in the order of their insertion, over all bags") {
  Fixture fixture;
  Slots inserted;
  for (int bag = 0; bag < 5; ++bag) {
    const Slots more = fixture.insert_new(7);
    inserted.insert(inserted.end(), more.begin(), more.end());
    fixture.open_bag();
  }
  REQUIRE_FALSE(fixture.list.idle());
  REQUIRE(fixture.evict_all() == inserted);
}

TEST_CASE("an item touched since its bag was the newest survives those that were not") {
  Fixture fixture;
  const Slots old = fixture.insert_new(10);
  fixture.open_bag();
  const Slots middle = fixture.insert_new(10);
  fixture.open_bag();
  fixture.touch(old[0]);
  fixture.touch(old[7]);
  const Slots young = fixture.insert_new(3);
  const Slots order = fixture.evict_all();
  REQUIRE(order.size() == 23);
  const auto place_of = [&](SlotReference slot) {
    return std::find(order.begin(), order.end(), slot) - order.begin();
  };
  for (const SlotReference untouched : middle) {
    REQUIRE(place_of(untouched) < place_of(old[0]));
    REQUIRE(place_of(untouched) < place_of(old[7]));
  }
  REQUIRE(place_of(old[1]) == 0);
  REQUIRE(fixture.list.statistics().moves == 2);
}

TEST_CASE("an item that is touched again and again outlives any number of bags") {
  Fixture fixture;
  const SlotReference favourite = fixture.insert_new();
  for (int bag = 0; bag < 1'000; ++bag) {
    fixture.insert_new();
    fixture.open_bag();
    fixture.touch(favourite);
    MutexLock lock(fixture.list.mutex());
    const SlotReference evicted = fixture.list.take_oldest(1'000);
    REQUIRE(evicted != favourite);
  }
}

TEST_CASE("a touch notes that the item was read, a new item has not been") {
  Fixture fixture;
  const SlotReference slot = fixture.insert_new();
  REQUIRE_FALSE(BagList::fetched(fixture.meta(slot)));
  fixture.touch(slot);
  REQUIRE(BagList::fetched(fixture.meta(slot)));
  fixture.open_bag();
  fixture.touch(slot);
  fixture.clean_all(10);
  REQUIRE(fixture.list.statistics().moves == 1);
  REQUIRE(BagList::fetched(fixture.meta(slot)));
  fixture.list.start(fixture.meta(slot));
  REQUIRE_FALSE(BagList::fetched(fixture.meta(slot)));
}

TEST_CASE("a cleaning pass changes neither the order of eviction nor access times nor pins") {
  const uint64_t step = GENERATE(1U, 3U, 1'000U);
  CAPTURE(step);
  Fixture fixture;
  const Slots first = fixture.insert_new(20);
  fixture.open_bag();
  const Slots second = fixture.insert_new(20);
  for (const SlotReference slot : first) {
    fixture.meta(slot).last_access.store(4711, std::memory_order_relaxed);
    fixture.meta(slot).pins.store(3, std::memory_order_relaxed);
  }
  const uint16_t residence = fixture.meta(first[5]).residence.load();
  for (int pass = 0; pass < 3; ++pass) {
    REQUIRE(fixture.clean_all(step) == joined({first, second}));
  }
  for (const SlotReference slot : first) {
    REQUIRE(fixture.meta(slot).last_access.load() == 4711);
    REQUIRE(fixture.meta(slot).pins.load() == 3);
    REQUIRE(fixture.meta(slot).residence.load() == residence);
  }
  REQUIRE(fixture.evict_all() == joined({first, second}));
}

TEST_CASE("a cleaning pass that evictions interrupt meets every remaining item once") {
  Fixture fixture;
  const Slots slots = fixture.insert_new(30);
  fixture.open_bag();
  fixture.insert_new(1);
  BagList::Position position;
  Slots asked;
  const auto keep = [&](SlotReference slot, SlotMeta& /*meta*/) {
    asked.push_back(slot);
    return BagList::Verdict::kKeep;
  };
  MutexLock lock(fixture.list.mutex());
  REQUIRE_FALSE(fixture.list.clean(&position, 10, keep));
  REQUIRE(asked == Slots(slots.begin(), slots.begin() + 10));
  for (int i = 0; i < 15; ++i) {  // Takes the cleaned ones and five more.
    REQUIRE(fixture.list.take_oldest(1'000) == slots[static_cast<size_t>(i)]);
  }
  asked.clear();
  REQUIRE(fixture.list.clean(&position, 1'000, keep));
  REQUIRE(asked.size() == 16);
  REQUIRE(std::equal(slots.begin() + 15, slots.end(), asked.begin()));
}

TEST_CASE("slots without items and items judged dead leave the bags, touched ones move up") {
  Fixture fixture;
  const Slots slots = fixture.insert_new(4);
  fixture.open_bag();
  fixture.insert_new(1);
  fixture.open_bag();
  fixture.insert_new(1);
  fixture.meta(slots[0]).set_state(SlotState::kRetired);
  fixture.touch(slots[3]);
  const Slots asked = fixture.clean_all(100, [&](SlotReference slot, SlotMeta& /*meta*/) {
    return slot == slots[1] ? BagList::Verdict::kDrop : BagList::Verdict::kKeep;
  });
  REQUIRE(std::find(asked.begin(), asked.end(), slots[0]) == asked.end());
  for (const SlotReference gone : {slots[0], slots[1]}) {
    REQUIRE((fixture.meta(gone).link.load() & SlotMeta::kInBag) == 0);
  }
  REQUIRE(fixture.list.statistics().moves == 1);
  const Slots order = fixture.evict_all();
  REQUIRE(order.size() == 4);
  REQUIRE(order[0] == slots[2]);
  REQUIRE(order[1] != slots[3]);
}

TEST_CASE("a new item in a slot that still lies in an old bag counts as new") {
  Fixture fixture;
  const Slots slots = fixture.insert_new(3);
  fixture.open_bag();
  const Slots younger = fixture.insert_new(3);
  fixture.open_bag();
  // The first item goes, and its slot gets another item before anybody has taken it out.
  fixture.meta(slots[0]).set_state(SlotState::kRetired);
  fixture.meta(slots[0]).begin(SlotState::kFree, 0);
  fixture.slots.make_live(slots[0]);
  fixture.list.start(fixture.meta(slots[0]));
  fixture.list.insert(slots[0]);
  const Slots order = fixture.evict_all();
  REQUIRE(order.size() == 6);
  const auto place = std::find(order.begin(), order.end(), slots[0]);
  REQUIRE(place > std::find(order.begin(), order.end(), younger[2]));
}

TEST_CASE("a full ring merges its two oldest bags and keeps the order") {
  Fixture fixture;
  Slots inserted;
  for (uint32_t bag = 0; bag < 3 * BagList::kRingSize; ++bag) {
    inserted.push_back(fixture.insert_new());
    inserted.push_back(fixture.insert_new());
    if (bag % 7 == 0) fixture.clean_all(5);
    fixture.open_bag();
  }
  const BagList::Statistics statistics = fixture.list.statistics();
  REQUIRE(statistics.bags == BagList::kRingSize);
  REQUIRE(statistics.merges == 2 * BagList::kRingSize + 1);
  REQUIRE(statistics.moves == 0);
  REQUIRE(fixture.evict_all() == inserted);
}

TEST_CASE("a bag is opened when the newest is full, and not before") {
  Fixture fixture;
  fixture.list.set_capacity(10);
  const auto open = [&] {
    MutexLock lock(fixture.list.mutex());
    return fixture.list.open_bag_if_full(false);
  };
  fixture.insert_new(9);
  REQUIRE_FALSE(open());
  const SlotReference tenth = fixture.slots.live_slot();
  REQUIRE(fixture.list.insert(tenth));  // Tells that the bag is full.
  REQUIRE(open());
  REQUIRE_FALSE(open());
  REQUIRE(fixture.list.statistics().bags == 2);
}

TEST_CASE("after dropping dead slots only items are linked, in their order") {
  Fixture fixture;
  const Slots slots = fixture.insert_new(6);
  fixture.open_bag();
  const Slots younger = fixture.insert_new(2);
  for (const size_t dead : {0U, 3U, 5U}) {
    fixture.meta(slots[dead]).set_state(SlotState::kRetired);
  }
  {
    MutexLock lock(fixture.list.mutex());
    fixture.list.drop_dead_slots();
  }
  for (const size_t dead : {0U, 3U, 5U}) {
    REQUIRE((fixture.meta(slots[dead]).link.load() & SlotMeta::kInBag) == 0);
  }
  REQUIRE(fixture.evict_all() == joined({{slots[1], slots[2], slots[4]}, younger}));
}

TEST_CASE("statistics tell when the next item in line was read last") {
  Fixture fixture;
  REQUIRE(fixture.list.statistics().oldest_access == 0);
  const Slots slots = fixture.insert_new(2);
  fixture.meta(slots[0]).last_access.store(100, std::memory_order_relaxed);
  fixture.meta(slots[1]).last_access.store(200, std::memory_order_relaxed);
  REQUIRE(fixture.list.statistics().oldest_access == 100);
}

TEST_CASE("insertion, touching, cleaning, opening and eviction at once lose no item") {
  constexpr size_t kItems = 3'000;
  Fixture fixture;
  fixture.list.set_capacity(64);
  const Slots slots = fixture.slots.live_slots(kItems);
  std::atomic<size_t> inserted{0};
  std::thread producer([&] {
    for (const SlotReference slot : slots) {
      fixture.list.start(fixture.meta(slot));
      fixture.list.insert(slot);
      inserted.fetch_add(1, std::memory_order_release);
    }
  });
  std::thread reader([&] {
    for (size_t i = 0; inserted.load(std::memory_order_acquire) < kItems; i += 17) {
      if (const size_t count = inserted.load(std::memory_order_acquire); count > 0) {
        fixture.touch(slots[i % count]);
      }
    }
  });
  std::set<SlotReference> evicted;
  bool twice = false;
  BagList::Position position;
  while (inserted.load(std::memory_order_acquire) < kItems) {
    MutexLock lock(fixture.list.mutex());
    fixture.list.open_bag_if_full(false);
    fixture.list.clean(&position, 50,
                       [](SlotReference, SlotMeta&) { return BagList::Verdict::kKeep; });
    if (const SlotReference slot = fixture.list.take_oldest(10); slot != kNoSlot) {
      twice |= !evicted.insert(slot).second;
    }
  }
  producer.join();
  reader.join();
  for (const SlotReference slot : fixture.evict_all()) {
    twice |= !evicted.insert(slot).second;
  }
  REQUIRE_FALSE(twice);
  REQUIRE(evicted.size() == kItems);
}

}  // namespace
}  // namespace pmcached::engine
