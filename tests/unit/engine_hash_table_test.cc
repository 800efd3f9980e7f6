#include <atomic>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "engine/index/hash_table.h"

namespace pmcached::engine {
namespace {

constexpr uint32_t kPower = 10;  // 1,024 buckets: as many as stripes, so the least there can be.
constexpr uint64_t kManyItems = 1'000'000;

uint64_t hash_of(SlotReference slot) {
  uint64_t z = slot * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Items in this test are their slots: item n stands in slot n.
SlotReference find(const HashTable& table, SlotReference item) {
  return table.find(hash_of(item), [item](SlotReference slot) { return slot == item; });
}
bool insert(HashTable& table, SlotReference item) {
  HashTable::Stripe stripe(table, hash_of(item));
  REQUIRE(stripe.find([item](SlotReference slot) { return slot == item; }) == kNoSlot);
  return stripe.insert(item);
}
bool erase(HashTable& table, SlotReference item) {
  HashTable::Stripe stripe(table, hash_of(item));
  if (stripe.find([item](SlotReference slot) { return slot == item; }) == kNoSlot) {
    return false;
  }
  stripe.erase();
  return true;
}

TEST_CASE("what was inserted is found, until it is erased") {
  HashTable table(kPower, kManyItems);
  for (SlotReference item = 1; item <= 20'000; ++item) {
    REQUIRE(find(table, item) == kNoSlot);
    insert(table, item);
    REQUIRE(find(table, item) == item);
  }
  REQUIRE(table.size() == 20'000);
  for (SlotReference item = 1; item <= 20'000; item += 2) {
    REQUIRE(erase(table, item));
    REQUIRE_FALSE(erase(table, item));
  }
  REQUIRE(table.size() == 10'000);
  for (SlotReference item = 1; item <= 20'000; ++item) {
    REQUIRE(find(table, item) == (item % 2 == 0 ? item : kNoSlot));
  }
}

TEST_CASE("a replaced entry leads to the new slot, and stays one entry") {
  HashTable table(kPower, kManyItems);
  constexpr SlotReference kGreatest = (SlotReference{1} << kSlotReferenceBits) - 1;
  const uint64_t hash = hash_of(1);
  {
    HashTable::Stripe stripe(table, hash);
    stripe.insert(1);
  }
  {
    HashTable::Stripe stripe(table, hash);
    REQUIRE(stripe.find([](SlotReference slot) { return slot == 1; }) == 1);
    stripe.replace(kGreatest);
  }
  const auto any = [](SlotReference /*slot*/) { return true; };
  REQUIRE(table.find(hash, any) == kGreatest);
  REQUIRE(table.size() == 1);
  HashTable::Stripe stripe(table, hash);
  REQUIRE(stripe.find(any) == kGreatest);
  stripe.erase();
  REQUIRE(stripe.find(any) == kNoSlot);
}

TEST_CASE("entries of one hash are told apart by the caller alone") {
  HashTable table(kPower, kManyItems);
  constexpr uint64_t kHash = 0xabcdef;
  constexpr SlotReference kItems = 100;  // Far more than a bucket holds.
  for (SlotReference item = 1; item <= kItems; ++item) {
    HashTable::Stripe stripe(table, kHash);
    stripe.insert(item);
  }
  for (SlotReference item = 1; item <= kItems; ++item) {
    REQUIRE(table.find(kHash, [item](SlotReference slot) { return slot == item; }) == item);
  }
  const uint64_t bytes = table.memory_bytes();
  for (int round = 0; round < 100; ++round) {
    HashTable::Stripe stripe(table, kHash);
    REQUIRE(stripe.find([](SlotReference slot) { return slot == 50; }) == 50);
    stripe.erase();
    stripe.insert(50);
  }
  REQUIRE(table.memory_bytes() == bytes);  // Emptied places are used again.
}

TEST_CASE("every split keeps every entry findable") {
  HashTable table(kPower, kManyItems);
  constexpr SlotReference kItems = 5'000;
  for (SlotReference item = 1; item <= kItems; ++item) {
    insert(table, item);
  }
  // Past two doublings, looking at everything after each of a sample of the splits.
  for (uint64_t split = 1; split <= 3 * 1024 + 100; ++split) {
    REQUIRE(table.split_next());
    REQUIRE(table.bucket_count() == 1024 + split);
    if (split % 97 == 0 || (split & (split + 1)) == 0) {
      for (SlotReference item = 1; item <= kItems; ++item) {
        if (find(table, item) != item) FAIL("item " << item << " after split " << split);
      }
    }
  }
  std::set<SlotReference> met;
  table.for_each(0, table.bucket_count(), [&](SlotReference slot) {
    REQUIRE(met.insert(slot).second);  // Nothing is left behind in a divided bucket.
  });
  REQUIRE(met.size() == kItems);
}

TEST_CASE("a table that grew item by item is as small as one made for its size") {
  HashTable grown(kPower, kManyItems);
  for (SlotReference item = 1; item <= 100'000; ++item) {
    insert(grown, item);
    if (item % 1'000 == 0) grown.grow();
    if (item == 40'000 || item == 65'000 || item == 100'000) {
      HashTable made(kPower, kManyItems);
      made.presize(item);
      for (SlotReference other = 1; other <= item; ++other) {
        insert(made, other);
      }
      REQUIRE(grown.memory_bytes() <= made.memory_bytes() * 105 / 100);
    }
  }
}

TEST_CASE("the table grows to its load and stops at its greatest size") {
  HashTable table(kPower, 10'000);
  bool crowded = false;
  for (SlotReference item = 1; item <= 30'000; ++item) {
    crowded |= insert(table, item);
  }
  REQUIRE(crowded);
  table.grow();
  REQUIRE_FALSE(table.is_growing());
  REQUIRE(table.bucket_count() == 10'000 / HashTable::kLoad + 1);
  REQUIRE_FALSE(table.split_next());
  for (SlotReference item = 1; item <= 30'000; ++item) {
    REQUIRE(find(table, item) == item);
  }
}

TEST_CASE("a presized table has its load without growing") {
  HashTable table(kPower, kManyItems);
  table.presize(123'456);
  const uint64_t buckets = table.bucket_count();
  REQUIRE(buckets == 123'456 / HashTable::kLoad + 1);
  for (SlotReference item = 1; item <= 123'456; ++item) {
    insert(table, item);
  }
  table.grow();
  REQUIRE(table.bucket_count() == buckets);
  for (SlotReference item = 1; item <= 123'456; ++item) {
    REQUIRE(find(table, item) == item);
  }
  SECTION("and never becomes smaller, or larger than it may") {
    HashTable small(kPower, 12'000);
    small.presize(1);
    REQUIRE(small.bucket_count() == 1024);
    small.presize(kManyItems);
    REQUIRE(small.bucket_count() == 12'000 / HashTable::kLoad + 1);
  }
}

TEST_CASE("a guess is an entry whose tag fits, or none") {
  HashTable table(kPower, kManyItems);
  REQUIRE(table.guess(hash_of(1)) == kNoSlot);
  insert(table, 1);
  REQUIRE(table.guess(hash_of(1)) == 1);
}

TEST_CASE("readers miss no entry while the table grows and others are overwritten") {
  HashTable table(kPower, kManyItems);
  constexpr SlotReference kStanding = 20'000;  // Chains of three buckets, which growth closes up.
  constexpr SlotReference kComing = 60'000;
  for (SlotReference item = 1; item <= kStanding; ++item) {
    insert(table, item);
  }
  std::atomic<bool> running{true};
  std::atomic<uint64_t> missed{0};
  std::vector<std::thread> threads;
  for (int reader = 0; reader < 2; ++reader) {
    threads.emplace_back([&] {
      while (running.load(std::memory_order_relaxed)) {
        for (SlotReference item = 1; item <= kStanding; ++item) {
          missed.fetch_add(find(table, item) == item ? 0 : 1, std::memory_order_relaxed);
        }
      }
    });
  }
  std::atomic<bool> inserting{true};
  threads.emplace_back([&] {
    while (inserting.load(std::memory_order_relaxed)) {
      table.grow();
    }
  });
  for (SlotReference item = kStanding + 1; item <= kStanding + kComing; ++item) {
    insert(table, item);
    if (item % 3 == 0) erase(table, item);
  }
  while (table.size() > table.bucket_count() * HashTable::kLoad) {
    std::this_thread::yield();
  }
  inserting.store(false, std::memory_order_relaxed);
  threads.back().join();
  running.store(false, std::memory_order_relaxed);
  threads[0].join();
  threads[1].join();
  REQUIRE(missed.load() == 0);
  REQUIRE(table.bucket_count() > 2 * 1024);
  for (SlotReference item = 1; item <= kStanding + kComing; ++item) {
    const bool erased = item > kStanding && item % 3 == 0;
    REQUIRE(find(table, item) == (erased ? kNoSlot : item));
  }
}

}  // namespace
}  // namespace pmcached::engine
