#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "engine/item/item_layout.h"
#include "tests/support/cache_fixture.h"
#include "tests/support/slot_accounting.h"

namespace pmcached::tests {
namespace {

using engine::Outcome;
using engine::StoreMode;

constexpr uint64_t kHeader = sizeof(engine::RecordHeader);

TEST_CASE("keys of 1 and of 250 bytes, of any bytes, are kept apart") {
  CacheFixture fixture;
  const std::string longest(250, 'k');
  std::string other = longest;
  other.back() = 'l';
  const std::string binary("\0\xff\n", 3);
  const std::vector<std::string> keys = {"a", "b", longest, other, binary};
  for (const std::string& key : keys) {
    REQUIRE(fixture.set(key, "value of " + key) == Outcome::kStored);
  }
  fixture.restart_after_crash();
  for (const std::string& key : keys) {
    REQUIRE(fixture.value(key) == "value of " + key);
  }
  REQUIRE(fixture.remove(longest) == Outcome::kDeleted);
  REQUIRE(fixture.get(other));
}

TEST_CASE("an item of exactly the limit is stored, one byte more is refused") {
  const uint64_t limit = GENERATE(1'024U, 1U << 20, 3U << 20);
  const std::string key(GENERATE(1U, 250U), 'k');
  CAPTURE(limit, key.size());
  CacheFixture::Config config;
  config.options.item_size_max_bytes = limit;
  CacheFixture fixture(config);
  const std::string fits(limit - kHeader - key.size(), 'x');
  REQUIRE(fixture.set(key, fits) == Outcome::kStored);
  REQUIRE(fixture.value(key) == fits);

  SECTION("a set that is too large removes the old value") {
    REQUIRE(fixture.set(key, fits + "x") == Outcome::kTooLarge);
    REQUIRE_FALSE(fixture.get(key));
    fixture.restart_after_crash();
    REQUIRE_FALSE(fixture.get(key));
  }
  SECTION("other modes that are too large leave it") {
    const StoreMode mode =
        GENERATE(StoreMode::kAdd, StoreMode::kReplace, StoreMode::kCas, StoreMode::kAppend);
    REQUIRE(fixture.store(mode, key, fits + "x") == Outcome::kTooLarge);
    REQUIRE(fixture.value(key) == fits);
  }
  SECTION("so does an append whose result is too large") {
    REQUIRE(fixture.store(StoreMode::kAppend, key, "x") == Outcome::kTooLarge);
    REQUIRE(fixture.store(StoreMode::kPrepend, key, "x") == Outcome::kTooLarge);
    REQUIRE(fixture.value(key) == fits);
  }
}

TEST_CASE("values of every size around a line, a slot and a chunk come back whole") {
  CacheFixture::Config config;
  config.options.item_size_max_bytes = uint64_t{4} << 20;
  CacheFixture fixture(config);
  std::vector<size_t> sizes;
  for (size_t size = 0; size <= 200; ++size) {
    sizes.push_back(size);
  }
  constexpr size_t kChunk = (size_t{512} << 10) - engine::kChunkHeaderBytes;
  for (const size_t around : {kChunk - kHeader, kChunk, 2 * kChunk, 3 * kChunk}) {
    for (size_t size = around - 12; size <= around + 12; ++size) {
      sizes.push_back(size);
    }
  }
  const auto value_of_size = [](size_t size) {
    std::string value(size, '\0');
    for (size_t i = 0; i < size; ++i) {
      value[i] = static_cast<char>(i * 31 + i / 251);
    }
    return value;
  };
  for (const size_t size : sizes) {
    CAPTURE(size);
    const std::string value = value_of_size(size);
    REQUIRE(fixture.set("key", value) == Outcome::kStored);
    REQUIRE(fixture.value("key") == value);
  }
  // And after recovery, which checks every byte.
  std::vector<std::string> keys;
  for (size_t i = 0; i < sizes.size(); i += 7) {
    keys.push_back("key:" + std::to_string(sizes[i]));
    REQUIRE(fixture.set(keys.back(), value_of_size(sizes[i])) == Outcome::kStored);
  }
  fixture.restart_after_crash();
  REQUIRE(fixture.cache().recovery().damaged_records == 0);
  for (const std::string& key : keys) {
    REQUIRE(fixture.value(key) == value_of_size(std::stoul(key.substr(4))));
  }
}

TEST_CASE("a value may arrive in pieces of any size and across turns") {
  CacheFixture::Config config;
  config.options.item_size_max_bytes = uint64_t{4} << 20;
  CacheFixture fixture(config);
  const size_t size = GENERATE(0U, 1U, 100U, 1'500'000U);
  const size_t piece = GENERATE(1U, 63U, 64U, 65U, 100'000U);
  if (size / piece > 100'000) return;
  CAPTURE(size, piece);
  std::string value(size, '\0');
  for (size_t i = 0; i < size; ++i) {
    value[i] = static_cast<char>(i * 7);
  }
  engine::PendingStore pending;
  {
    const engine::Session::Turn turn(fixture.session());
    std::string key = "key";  // Need not outlive the call.
    REQUIRE(fixture.cache().begin_store(fixture.session(),
                                        {.key = engine::hash_key(key),
                                         .client_flags = 0xffff'ffff'ffff'ffff,
                                         .length = static_cast<uint32_t>(size)},
                                        &pending) == Outcome::kStored);
    key = "???";
  }
  REQUIRE(pending.active());
  for (size_t at = 0; at < size; at += piece) {
    REQUIRE(pending.missing() == size - at);
    pending.write(std::span(value).subspan(at, std::min(piece, size - at)));
  }
  REQUIRE(pending.missing() == 0);
  REQUIRE_FALSE(fixture.get("key"));
  {
    const engine::Session::Turn turn(fixture.session());
    REQUIRE(fixture.cache().finish_store(fixture.session(), &pending) == Outcome::kStored);
  }
  REQUIRE_FALSE(pending.active());
  REQUIRE(fixture.value("key") == value);
  REQUIRE(fixture.get("key")->client_flags == 0xffff'ffff'ffff'ffff);
}

TEST_CASE("a store that is given up leaves the old value and gives its slots back") {
  CacheFixture::Config config;
  config.options.item_size_max_bytes = uint64_t{4} << 20;
  CacheFixture fixture(config);
  fixture.set("key", "old");
  for (const uint32_t length : {100U, 2'000'000U}) {
    engine::PendingStore pending;
    const engine::Session::Turn turn(fixture.session());
    REQUIRE(fixture.cache().begin_store(fixture.session(),
                                        {.key = engine::hash_key("key"), .length = length},
                                        &pending) == Outcome::kStored);
    pending.write(std::string(50, 'x'));
  }
  REQUIRE(fixture.value("key") == "old");
  require_slots_add_up(fixture, {"key"});
  fixture.restart_after_crash();
  REQUIRE(fixture.value("key") == "old");
  REQUIRE(fixture.cache().recovery().damaged_records == 0);
}

TEST_CASE("numbers too long or not numbers are refused by incr and left as they are") {
  CacheFixture fixture;
  fixture.set("text", "abc");
  fixture.set("long", "18446744073709551616");
  fixture.set("empty", "");
  for (const char* key : {"text", "long", "empty"}) {
    const auto before = fixture.get(key);
    REQUIRE(fixture.add(key, 1, true).outcome == Outcome::kNotANumber);
    REQUIRE(fixture.get(key) == before);
  }
  fixture.set("number", "99");
  const engine::Arithmetic result = fixture.add("number", 1, true);
  REQUIRE(result.outcome == Outcome::kChanged);
  REQUIRE(result.value == 100);
  REQUIRE(result.cas == fixture.get("number")->cas);
  REQUIRE(fixture.value("number") == "100");
  fixture.add("number", 91, false);
  REQUIRE(fixture.value("number") == "9  ");
}

}  // namespace
}  // namespace pmcached::tests
