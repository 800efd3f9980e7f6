#include <array>
#include <catch2/catch.hpp>
#include <vector>

#include "pmem/checksum.h"
#include "pmem/slab_directory.h"

namespace pmcached::pmem {
namespace {

using Health = SlabDirectory::Health;

constexpr uint32_t kFirst = 7;
constexpr uint32_t kCount = 5;
constexpr uint32_t kSecondFirst = 100;

/// A directory of two extents in plain memory, formatted.
struct TwoExtents {
  std::vector<uint64_t> primary = std::vector<uint64_t>(kCount);
  std::vector<uint64_t> mirror = std::vector<uint64_t>(kCount);
  std::vector<uint64_t> second_primary = std::vector<uint64_t>(kCount);
  std::vector<uint64_t> second_mirror = std::vector<uint64_t>(kCount);
  Persister persister{Medium::kAnonymous};
  SlabDirectory directory{
      {{.first_slab = kFirst, .primary = primary, .mirror = mirror},
       {.first_slab = kSecondFirst, .primary = second_primary, .mirror = second_mirror}},
      persister};

  TwoExtents() { directory.format(); }
  Health load(uint32_t slab, SlabEntry* entry) const { return directory.load(slab, entry); }
};

constexpr SlabEntry kAssigned{.state = SlabState::kAssigned, .size_class = 3, .generation = 0xbeef};

TEST_CASE("a formatted directory holds free slabs of generation 0") {
  TwoExtents two;
  for (const uint32_t slab :
       {kFirst, kFirst + kCount - 1, kSecondFirst, kSecondFirst + kCount - 1}) {
    SlabEntry entry{.state = SlabState::kAssigned, .size_class = 9, .generation = 9};
    CHECK(two.load(slab, &entry) == Health::kIntact);
    CHECK(entry == SlabEntry{});
  }
}

TEST_CASE("an entry is found in the words of its own slab only") {
  TwoExtents two;
  const std::vector<uint64_t> untouched = two.second_primary;
  two.directory.store(kSecondFirst + 2, kAssigned);
  SlabEntry entry;
  CHECK(two.load(kSecondFirst + 2, &entry) == Health::kIntact);
  CHECK(entry == kAssigned);
  for (size_t i = 0; i < kCount; ++i) {
    CHECK((two.second_primary[i] == untouched[i]) == (i != 2));
  }
  CHECK(two.second_primary[2] == two.second_mirror[2]);
}

TEST_CASE("a directory word has the bits that the format page draws") {
  TwoExtents two;
  two.directory.store(kFirst, kAssigned);
  const uint64_t word = two.primary[0];
  CHECK((word & 0xffffffff) == 0xbeef03a5);
  const std::array<uint32_t, 2> checked = {kFirst, 0xbeef03a5};
  CHECK(word >> 32 == ~extend_crc32c(kCrc32cStart, checked.data(), sizeof(checked)));
}

TEST_CASE("every flipped bit of one copy is noticed and the other copy counts") {
  TwoExtents two;
  two.directory.store(kFirst + 1, kAssigned);
  const uint64_t good = two.primary[1];
  for (uint64_t* copy : {&two.primary[1], &two.mirror[1]}) {
    for (int bit = 0; bit < 64; ++bit) {
      *copy = good ^ (uint64_t{1} << bit);
      SlabEntry entry;
      CHECK(two.load(kFirst + 1, &entry) == Health::kRepaired);
      CHECK(entry == kAssigned);
    }
    *copy = good;
  }
}

TEST_CASE("a slab with two bad copies is reported and left alone") {
  TwoExtents two;
  two.directory.store(kFirst, kAssigned);
  two.primary[0] ^= 1;
  two.mirror[0] = 0;
  SlabEntry entry{.state = SlabState::kFree, .size_class = 42, .generation = 42};
  CHECK(two.load(kFirst, &entry) == Health::kDamaged);
  CHECK(entry.size_class == 42);
  const SlabDirectory::Repairs repairs = two.directory.repair();
  CHECK(repairs.damaged == 1);
  CHECK(repairs.repaired == 0);
  CHECK(two.mirror[0] == 0);

  two.directory.store(kFirst, SlabEntry{.generation = 7});
  CHECK(two.load(kFirst, &entry) == Health::kIntact);
  CHECK(entry.generation == 7);
}

TEST_CASE("a word of another slab is not believed") {
  TwoExtents two;
  two.directory.store(kFirst + 3, kAssigned);
  two.primary[0] = two.primary[3];
  two.mirror[0] = two.mirror[3];
  SlabEntry entry;
  CHECK(two.load(kFirst, &entry) == Health::kDamaged);
}

TEST_CASE("words that never were written are damaged") {
  TwoExtents two;
  for (const uint64_t junk : {uint64_t{0}, ~uint64_t{0}}) {
    two.primary[0] = two.mirror[0] = junk;
    SlabEntry entry;
    CHECK(two.load(kFirst, &entry) == Health::kDamaged);
  }
}

TEST_CASE("repair restores bad copies from good ones") {
  TwoExtents two;
  two.directory.store(kFirst, kAssigned);
  const uint64_t good = two.primary[0];
  two.primary[0] = 0;
  two.second_mirror[4] ^= 0x100;
  const SlabDirectory::Repairs repairs = two.directory.repair();
  CHECK(repairs.repaired == 2);
  CHECK(repairs.damaged == 0);
  CHECK(two.primary[0] == good);
  CHECK(two.second_mirror == two.second_primary);
}

TEST_CASE("a mirror that a cut left behind gives way to its primary") {
  TwoExtents two;
  const uint64_t before = two.mirror[0];
  two.directory.store(kFirst, kAssigned);
  two.mirror[0] = before;
  SlabEntry entry;
  CHECK(two.load(kFirst, &entry) == Health::kIntact);
  CHECK(entry == kAssigned);
  CHECK(two.directory.repair().repaired == 0);
  CHECK(two.mirror[0] == two.primary[0]);
}

}  // namespace
}  // namespace pmcached::pmem
