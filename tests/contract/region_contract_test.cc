// What every Region promises, run over every kind of region. Whether pools count as persistent
// memory or as page cache, libpmem decides once a process by PMEM_IS_PMEM_FORCE; so this program is
// to be run with that variable as 1 and as 0.

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "tests/unit/pmem_test_pool.h"

namespace pmcached::pmem {
namespace {

using Catch::Contains;
using test::kMib;
using test::open_or_fail;
using test::pool_options;

enum class Kind { kDram, kPool, kGrownPool };

/// One region of a kind, and the means to open it again.
class RegionUnderTest {
 public:
  explicit RegionUnderTest(Kind kind) : kind_(kind) {
    if (kind == Kind::kGrownPool) {
      REQUIRE(open_or_fail(pool_options(path()))->close_cleanly().ok());
    }
    open();
  }

  Region& operator*() { return *region_; }
  Region* operator->() { return region_.get(); }

  /// What a crash of the process leaves, opened again.
  void crash_and_open() {
    region_.reset();
    open();
  }
  void stop_and_open() {
    REQUIRE(region_->close_cleanly().ok());
    region_.reset();
    open();
  }

 private:
  std::string path() const { return folder_.file("pool"); }
  void open() {
    if (kind_ == Kind::kDram) {
      REQUIRE(make_dram_region(64 * kMib, {1, 2, 4, 8, 8192}, &region_).ok());
    } else {
      region_ = open_or_fail(pool_options(path(), kind_ == Kind::kGrownPool ? 96 : 64));
    }
  }

  test::ScratchFolder folder_;
  Kind kind_;
  std::unique_ptr<Region> region_;
};

bool pmem_is_forced() {
  const char* force = std::getenv("PMEM_IS_PMEM_FORCE");
  return force != nullptr && std::strcmp(force, "1") == 0;
}

template <typename Visit>
void for_each_slab(Region& region, Visit visit) {
  for (const SlabRange& range : region.slab_ranges()) {
    for (uint32_t slab = range.first; slab < range.first + range.count; ++slab) visit(slab);
  }
}

/// An entry that differs from slab to slab.
SlabEntry entry_of(uint32_t slab) {
  return {.state = slab % 3 == 0 ? SlabState::kFree : SlabState::kAssigned,
          .size_class = static_cast<uint8_t>(slab % 5),
          .generation = static_cast<uint16_t>(slab * 1009)};
}

void check_entries(Region& region) {
  for_each_slab(region, [&](uint32_t slab) {
    SlabEntry entry;
    REQUIRE(region.directory().load(slab, &entry) == SlabDirectory::Health::kIntact);
    REQUIRE(entry == entry_of(slab));
  });
}

std::byte* slab_at(Region& region, uint32_t slab) {
  return region.base() + slab * kSlabSize;
}

/// Fills every slab with its number, through the persister.
void fill(Region& region) {
  const std::vector<uint32_t> zeros(kSlabSize / sizeof(uint32_t));
  for_each_slab(region, [&](uint32_t slab) {
    const std::vector<uint32_t> content(kSlabSize / sizeof(uint32_t), slab);
    region.persister().copy(slab_at(region, slab), content.data(), kSlabSize);
  });
  region.persister().fence();
}

void check_filled(Region& region) {
  for_each_slab(region, [&](uint32_t slab) {
    const std::vector<uint32_t> content(kSlabSize / sizeof(uint32_t), slab);
    REQUIRE(std::memcmp(slab_at(region, slab), content.data(), kSlabSize) == 0);
  });
}

TEST_CASE("slabs are aligned, ascending, disjoint and within the region") {
  RegionUnderTest region(GENERATE(Kind::kDram, Kind::kPool, Kind::kGrownPool));
  CHECK(reinterpret_cast<uintptr_t>(region->base()) % kPageSize == 0);
  uint64_t slabs = 0;
  uint32_t next = 1;  // slot reference 0 means "no slot", so no slab has number 0
  for (const SlabRange& range : region->slab_ranges()) {
    CHECK(range.count > 0);
    CHECK(range.first >= next);
    next = range.first + range.count;
    slabs += range.count;
  }
  CHECK(region->slab_limit() == next);
  CHECK(slabs * kSlabSize <= region->bytes());
  // No more than 7 MiB go to libpmemobj's metadata, and one a growth.
  CHECK(slabs * kSlabSize + 8 * kMib >= region->bytes());
}

TEST_CASE("every byte of every slab is writable and belongs to that slab alone") {
  RegionUnderTest region(GENERATE(Kind::kDram, Kind::kPool, Kind::kGrownPool));
  for_each_slab(*region, [&](uint32_t slab) { region->directory().store(slab, entry_of(slab)); });
  region->run_state().update([](RunState& state) { state.cas_limit = 99; });
  fill(*region);
  check_filled(*region);
  check_entries(*region);
  CHECK(region->run_state().get().cas_limit == 99);
}

TEST_CASE("a new region holds free slabs of generation 0 and reads as new") {
  RegionUnderTest region(GENERATE(Kind::kDram, Kind::kPool));
  CHECK(region->last_run() == LastRun::kNone);
  CHECK(region->findings().empty());
  CHECK(region->run_state().get().cas_limit == 0);
  CHECK(region->run_state().get().flush_cas == 0);
  for_each_slab(*region, [&](uint32_t slab) {
    SlabEntry entry;
    REQUIRE(region->directory().load(slab, &entry) == SlabDirectory::Health::kIntact);
    REQUIRE(entry == SlabEntry{});
  });
}

TEST_CASE("the size classes are those the region was made with") {
  RegionUnderTest region(GENERATE(Kind::kDram, Kind::kPool, Kind::kGrownPool));
  const std::vector<uint32_t> lines(region->slot_lines().begin(), region->slot_lines().end());
  CHECK(lines == std::vector<uint32_t>{1, 2, 4, 8, 8192});
}

TEST_CASE("the description says medium and what is survived") {
  RegionUnderTest dram(Kind::kDram);
  CHECK(dram->persister().medium() == Medium::kAnonymous);
  CHECK_FALSE(dram->survives_power_loss());
  CHECK_THAT(dram->description(), Contains("64 MiB of DRAM; no item survives"));

  RegionUnderTest pool(GENERATE(Kind::kPool, Kind::kGrownPool));
  const bool forced = pmem_is_forced();
  CHECK(pool->persister().medium() == (forced ? Medium::kPmem : Medium::kPageCache));
  CHECK_FALSE(pool->survives_power_loss());
  CHECK_THAT(pool->description(), Contains(forced ? "on tmpfs as persistent memory"
                                                  : "on tmpfs through the page cache"));
  CHECK_THAT(pool->description(),
             Contains("survives a crash of the server, but not a restart of the machine"));
}

TEST_CASE("a pool keeps everything over a clean stop") {
  RegionUnderTest region(GENERATE(Kind::kPool, Kind::kGrownPool));
  const uint32_t seed = region->checksum_seed();
  for_each_slab(*region, [&](uint32_t slab) { region->directory().store(slab, entry_of(slab)); });
  fill(*region);
  region->run_state().update([](RunState& state) {
    state.cas_limit = 1000;
    state.wall_clock = 1800000000;
    state.flush_cas = 12;
    state.flush_at = 1800000060;
  });
  region.stop_and_open();
  CHECK(region->last_run() == LastRun::kClean);
  CHECK(region->findings().empty());
  CHECK(region->checksum_seed() == seed);
  const RunState state = region->run_state().get();
  CHECK(state.cas_limit == 1000);
  CHECK(state.wall_clock == 1800000000);
  CHECK(state.flush_cas == 12);
  CHECK(state.flush_at == 1800000060);
  check_entries(*region);
  check_filled(*region);
}

TEST_CASE("a pool keeps everything over a crash of the process, and says that it crashed") {
  RegionUnderTest region(GENERATE(Kind::kPool, Kind::kGrownPool));
  for (int round = 1; round <= 2; ++round) {
    for_each_slab(*region, [&](uint32_t slab) { region->directory().store(slab, entry_of(slab)); });
    fill(*region);
    region->run_state().update([&](RunState& state) { ++state.cas_limit; });
    region.crash_and_open();
    CHECK(region->last_run() == LastRun::kProcessDied);
    CHECK(region->findings().empty());
    CHECK(region->run_state().get().clean == 0);
    CHECK(region->run_state().get().cas_limit == static_cast<uint64_t>(round));
    check_entries(*region);
    check_filled(*region);
  }
}

TEST_CASE("record checksums of different pools start differently") {
  std::set<uint32_t> seeds;
  for (int i = 0; i < 4; ++i) seeds.insert(RegionUnderTest(Kind::kPool)->checksum_seed());
  CHECK(seeds.size() == 4);
}

TEST_CASE("DRAM that cannot be had is refused with a sentence") {
  std::unique_ptr<Region> region;
  Status status = make_dram_region(kMib - 1, {1}, &region);
  REQUIRE_FALSE(status.ok());
  CHECK(status.code() == Status::Code::kInvalid);
  CHECK_THAT(status.message(), Contains("1048575 bytes are too little memory"));

  status = make_dram_region(kMaxPoolBytes - 2 * kMib, {1}, &region);
  if (!status.ok()) {  // more than the address space of most machines, less than that of some
    CHECK(status.code() == Status::Code::kNoSpace);
    CHECK_THAT(status.message(), Contains("cannot reserve 67108862 MiB of memory"));
  }
  status = make_dram_region(~uint64_t{0}, {1}, &region);
  REQUIRE_FALSE(status.ok());
  CHECK_THAT(status.message(), Contains("cannot address 17592186044415 MiB"));
}

}  // namespace
}  // namespace pmcached::pmem
