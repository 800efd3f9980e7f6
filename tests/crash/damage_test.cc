#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/item/item_layout.h"
#include "tests/crash/crash_image.h"
#include "tests/crash/damaged_pool.h"
#include "tests/support/randomness.h"

namespace pmcached::tests {
namespace {

using engine::RecordHeader;
using engine::SlotKind;

CacheFixture::Config config_for_large_items() {
  CacheFixture::Config config;
  config.options.item_size_max_bytes = uint64_t{4} << 20;
  return config;
}

std::string key_of(const char* prefix, uint64_t number) {
  std::string digits = std::to_string(number);
  return prefix + std::string(6 - digits.size(), '0') + digits;
}

TEST_CASE("a flipped bit anywhere in a record drops that record and no other") {
  constexpr uint64_t kRecords = 500;
  constexpr uint64_t kValueBytes = 90;
  DamagedPool pool;
  std::vector<Place> places;
  std::set<std::string> lost;
  for (uint64_t i = 0; i < kRecords; ++i) {
    places.push_back(pool.store(key_of("bad:", i), std::string(kValueBytes, 'b')));
    lost.insert(key_of("bad:", i));
    pool.store(key_of("good", i), std::string(kValueBytes, 'g'));
  }
  pool.close();
  // Each record gets another bit of the record's bytes, the expiry's 4 bytes left out.
  constexpr uint64_t kBytes = sizeof(RecordHeader) + 10 + kValueBytes;
  for (uint64_t i = 0; i < kRecords; ++i) {
    uint64_t bit = i * (kBytes - 4) * 8 / kRecords;
    if (bit >= offsetof(RecordHeader, exptime) * 8) {
      bit += sizeof(uint32_t) * 8;
    }
    pool.flip_bit(places[i].record, bit);
  }
  const engine::RecoveryReport& report = pool.reopen_without(lost);
  REQUIRE(report.damaged_records == kRecords);
  REQUIRE(report.items == kRecords);
  REQUIRE(report.damaged_slabs == 0);
}

TEST_CASE("a damaged expiry changes the expiry and nothing else") {
  DamagedPool pool;
  const Place place = pool.store("key", "value");
  pool.close();
  pool.file().write_as<uint32_t>(place.record + offsetof(RecordHeader, exptime), 4'000'000'000);
  pool.cache().open();
  REQUIRE(pool.cache().value("key") == "value");
  REQUIRE(pool.cache().get("key")->exptime == 4'000'000'000);
  REQUIRE(pool.cache().cache().recovery().damaged_records == 0);
}

TEST_CASE("no flipped bit brings a deleted record back") {
  DamagedPool pool;
  std::vector<Place> places;
  for (uint64_t bit = 0; bit < 64; ++bit) {
    places.push_back(pool.store(key_of("key:", bit), "value"));
  }
  for (uint64_t bit = 0; bit < 64; ++bit) {
    pool.remove(key_of("key:", bit));
  }
  pool.close();
  for (uint64_t bit = 0; bit < 64; ++bit) {
    pool.flip_bit(places[bit].record, bit);
  }
  REQUIRE(pool.reopen_without({}).items == 0);
}

TEST_CASE("a damaged chunk drops the item it belongs to, unless the damage has no meaning") {
  DamagedPool pool(config_for_large_items());
  const std::string value(1'200'000, 'v');
  constexpr uint64_t kFirstKindBit = 0;
  constexpr uint64_t kFirstUnusedBit = 8;
  constexpr uint64_t kFirstGenerationBit = 16;
  constexpr uint64_t kFirstByteBit = 64;
  struct Damage {
    const char* key;
    size_t chunk;
    uint64_t bit;
  };
  const std::vector<Damage> damages = {{"kind", 1, kFirstKindBit + 3},
                                       {"generation", 0, kFirstGenerationBit + 5},
                                       {"first byte", 2, kFirstByteBit},
                                       {"byte in the middle", 1, kFirstByteBit + 8 * 300'000},
                                       {"nothing", 1, kFirstUnusedBit}};
  std::vector<Place> places;
  for (const Damage& damage : damages) {
    places.push_back(pool.store(damage.key, value));
    REQUIRE(places.back().chunks.size() == 3);
  }
  pool.store("whole", value);
  pool.close();
  for (size_t i = 0; i < damages.size(); ++i) {
    pool.flip_bit(places[i].chunks[damages[i].chunk], damages[i].bit);
  }
  const engine::RecoveryReport& report =
      pool.reopen_without({"kind", "generation", "first byte", "byte in the middle"});
  REQUIRE(report.items == 2);
  // Four records, and the one chunk slot that no longer says what it is.
  REQUIRE(report.damaged_records == 5);
}

TEST_CASE("a chunk list that leads elsewhere drops its item") {
  DamagedPool pool(config_for_large_items());
  const std::string value(1'200'000, 'v');
  const char* const keys[] = {"nowhere", "outside", "itself", "twice", "another's", "a record"};
  std::vector<Place> places;
  for (const char* key : keys) {
    places.push_back(pool.store(key, value));
  }
  const Place whole = pool.store("whole", value);
  const Place small = pool.store("small", "value");
  pool.close();
  const auto redirect = [&](size_t item, uint64_t reference) {
    const uint64_t list = places[item].record + sizeof(RecordHeader) + std::strlen(keys[item]);
    pool.file().write_as<uint64_t>(list, reference);
  };
  redirect(0, 0);
  redirect(1, ~uint64_t{0});
  redirect(2, places[2].record / pmem::kLineSize);
  redirect(3, places[3].chunks[1] / pmem::kLineSize);
  redirect(4, whole.chunks[0] / pmem::kLineSize);
  redirect(5, small.record / pmem::kLineSize);
  const engine::RecoveryReport& report = pool.reopen_without({std::begin(keys), std::end(keys)});
  REQUIRE(report.damaged_records == 6);
  REQUIRE(report.items == 2);
}

TEST_CASE("of two whole records that claim the same chunks only one becomes an item") {
  DamagedPool pool(config_for_large_items());
  const std::string value(1'000'000, 'v');
  const Place first = pool.store("first", value);
  const std::string record = [&] {
    pool.close();
    std::string bytes = pool.read(first.record, 128);
    pool.cache().open();
    return bytes;
  }();
  pool.remove("first");
  wait_until("all slots are free", [&] {
    for (const engine::ClassStats& of_class : pool.cache().cache().stats().classes) {
      if (of_class.free_slots != of_class.total_slots) return false;
    }
    return true;
  });
  pool.store("filler", "takes the place of the record");
  const Place second = pool.store("second", value);
  REQUIRE(second.chunks == first.chunks);
  REQUIRE(second.record != first.record);
  pool.close();
  pool.overwrite(first.record, record);

  pool.cache().open();
  const engine::RecoveryReport& report = pool.cache().cache().recovery();
  REQUIRE(report.damaged_records == 1);
  REQUIRE(report.items == 1);
  REQUIRE(pool.cache().get("first").has_value() != pool.cache().get("second").has_value());
  require_slots_add_up(pool.cache(), {"first", "second", "filler"});
}

TEST_CASE("a slab is lost, and no other, when both of its directory words are damaged") {
  DamagedPool pool;
  std::vector<Place> places;
  for (uint64_t i = 0; i < 20'000; ++i) {
    places.push_back(pool.store(key_of("key:", i), "value"));
  }
  const uint64_t slab = places[10'000].record / pmem::kSlabSize;
  std::set<std::string> lost;
  for (uint64_t i = 0; i < places.size(); ++i) {
    if (places[i].record / pmem::kSlabSize == slab) lost.insert(key_of("key:", i));
  }
  REQUIRE(lost.size() < places.size());
  pool.close();
  const auto [primary, mirror] = pool.directory_words(slab);

  SECTION("one of the two words: nothing is lost") {
    const bool is_primary = GENERATE(false, true);
    pool.flip_bit(is_primary ? primary : mirror, 9);
    const engine::RecoveryReport& report = pool.reopen_without({});
    REQUIRE(report.damaged_slabs == 0);
    REQUIRE_FALSE(pool.cache().region().findings().empty());
  }
  SECTION("both of them") {
    pool.flip_bit(primary, 9);
    pool.flip_bit(mirror, 60);
    const engine::RecoveryReport& report = pool.reopen_without(lost);
    REQUIRE(report.damaged_slabs == 1);
    REQUIRE(report.damaged_records == 0);
    REQUIRE(report.items == places.size() - lost.size());
    // The slab serves again, under a generation that its old records do not carry.
    pool.cache().restart_after_crash();
    for (const std::string& key : lost) {
      REQUIRE_FALSE(pool.cache().get(key).has_value());
      REQUIRE(pool.cache().set(key, "new") == engine::Outcome::kStored);
    }
    pool.cache().restart_after_crash();
    for (const std::string& key : lost) {
      REQUIRE(pool.cache().value(key) == "new");
    }
  }
}

TEST_CASE("of two whole records of a key the newer counts, even if it has expired") {
  DamagedPool pool;
  const Place old_place = pool.store("key", "old");
  pool.close();
  const std::string old_record = pool.read(old_place.record, sizeof(uint64_t));
  pool.cache().open();
  const bool expires = GENERATE(false, true);
  CAPTURE(expires);
  REQUIRE(pool.cache().set("key", "new", 0, expires ? 10 : 0) == engine::Outcome::kStored);
  pool.cache().advance(20);
  pool.close();
  pool.overwrite(old_place.record, old_record);  // Its retirement has not become durable.

  pool.cache().open();
  const engine::RecoveryReport report = pool.cache().cache().recovery();
  REQUIRE(report.superseded == 1);
  REQUIRE(report.items == 1);
  REQUIRE(report.expired == (expires ? 1 : 0));
  REQUIRE(pool.cache().value("key") ==
          (expires ? std::nullopt : std::optional<std::string>("new")));
  // The old one is retired now: it does not come back once the new one is gone.
  pool.cache().remove("key");
  pool.cache().restart_after_crash();
  REQUIRE(pool.cache().cache().recovery().superseded == 0);
  REQUIRE_FALSE(pool.cache().get("key").has_value());
}

TEST_CASE("slabs overwritten with noise lose their items, and the others keep theirs") {
  const uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  DamagedPool pool(config_for_large_items());
  std::vector<Place> places;
  std::vector<std::string> keys;
  const auto store = [&](const std::string& key, size_t bytes) {
    places.push_back(pool.store(key, std::string(bytes, 'v')));
    keys.push_back(key);
  };
  for (uint64_t i = 0; i < 3'000; ++i) {
    store(key_of("small:", i), random() % 2'000);
  }
  for (uint64_t i = 0; i < 8; ++i) {
    store(key_of("large:", i), 600'000 + random() % 1'000'000);
  }
  pool.close();
  // Plain noise, or noise in which every slot claims to be a record of this slab.
  const bool plausible = GENERATE(false, true, false, true);
  CAPTURE(plausible);
  std::set<uint64_t> spoilt;
  for (int i = 0; i < 3; ++i) {
    spoilt.insert(places[random() % places.size()].record / pmem::kSlabSize);
  }
  spoilt.insert(places[places.size() - 1 - random() % 8].chunks[0] / pmem::kSlabSize);
  for (const uint64_t slab : spoilt) {
    std::string noise(pmem::kSlabSize, '\0');
    for (char& byte : noise) {
      byte = static_cast<char>(random());
    }
    for (uint64_t at = 0; plausible && at < noise.size(); at += pmem::kLineSize) {
      const RecordHeader header{
          .commit_word = engine::make_slot_word(
              static_cast<uint32_t>(random()), 1, static_cast<uint8_t>(random()),
              random() % 2 == 0 ? SlotKind::kRecord : SlotKind::kChunkedRecord),
          .cas = random(),
          .client_flags = random(),
          .value_length = static_cast<uint32_t>(random() >> (32 + random() % 32)),
          .exptime = 0};
      std::memcpy(noise.data() + at, &header, sizeof header);
    }
    pool.overwrite(slab * pmem::kSlabSize, noise);
  }
  std::set<std::string> lost;
  for (size_t i = 0; i < places.size(); ++i) {
    bool is_hit = spoilt.count(places[i].record / pmem::kSlabSize) != 0;
    for (const uint64_t chunk : places[i].chunks) {
      is_hit |= spoilt.count(chunk / pmem::kSlabSize) != 0;
    }
    if (is_hit) lost.insert(keys[i]);
  }
  const engine::RecoveryReport& report = pool.reopen_without(lost);
  REQUIRE(report.items == keys.size() - lost.size());
  REQUIRE(report.damaged_records > 0);
  // What was dropped was dropped durably, and the room is used again.
  pool.cache().restart_after_crash();
  REQUIRE(pool.cache().cache().recovery().damaged_records == 0);
  for (const std::string& key : lost) {
    REQUIRE(pool.cache().set(key, "new") == engine::Outcome::kStored);
  }
}

TEST_CASE("when both copies of the run state are damaged, items stay and CAS numbers go on above") {
  CacheFixture::Config config;
  config.options.salvage_after_power_loss = true;
  DamagedPool pool(config);
  for (uint64_t i = 0; i < 100; ++i) {
    pool.store(key_of("key:", i), "value");
  }
  const uint64_t highest = pool.cache().get("key:000099")->cas;
  pool.close();
  for (const size_t copy : {0U, 1U}) {
    pool.flip_bit(pool.file().run_state_offset(copy) + offsetof(pmem::RunState, cas_limit), 3);
  }
  REQUIRE(pool.reopen_without({}).items == 100);
  REQUIRE(pool.cache().region().last_run() == pmem::LastRun::kPowerLost);
  uint64_t cas = 0;
  pool.cache().store(engine::StoreMode::kSet, "new", "value", 0, 0, 0, &cas);
  REQUIRE(cas > highest);
}

TEST_CASE("after a power loss without DAX the cache starts empty once, and only once") {
  DamagedPool pool;
  pool.store("before", "value");
  pool.cache().kill();
  for (const size_t copy : {0U, 1U}) {
    const uint64_t offset = pool.file().run_state_offset(copy);
    auto state = pool.file().read_as<pmem::RunState>(offset);
    change_boot(&state);
    pool.file().write_as(offset, state);
  }
  pool.cache().open();
  REQUIRE(pool.cache().region().last_run() == pmem::LastRun::kPowerLost);
  REQUIRE(pool.cache().cache().recovery().discarded);
  REQUIRE_FALSE(pool.cache().get("before").has_value());
  REQUIRE(pool.cache().set("after", "value") == engine::Outcome::kStored);
  // A mere crash of the process costs nothing again.
  pool.cache().restart_after_crash();
  REQUIRE(pool.cache().region().last_run() == pmem::LastRun::kProcessDied);
  REQUIRE_FALSE(pool.cache().cache().recovery().discarded);
  REQUIRE(pool.cache().value("after") == "value");
  REQUIRE_FALSE(pool.cache().get("before").has_value());
}

}  // namespace
}  // namespace pmcached::tests
