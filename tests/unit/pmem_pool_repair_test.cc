#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "pmem/extent_plan.h"
#include "pmem/two_copies.h"
#include "tests/unit/pmem_test_pool.h"

namespace pmcached::pmem {
namespace {

using Catch::Contains;
using test::joined_findings;
using test::open_or_fail;
using test::open_refused;
using test::pool_options;
using test::RawFile;
using test::ScratchFolder;

/// A pool with something in every part of it, cleanly closed.
class UsedPool {
 public:
  UsedPool() {
    auto region = open_or_fail(pool_options(path()));
    first_slab_ = region->slab_ranges()[0].first;
    region->directory().store(first_slab_, {SlabState::kAssigned, 2, 17});
    region->run_state().update([](RunState& state) {
      state.cas_limit = 4096;
      state.wall_clock = 1700000000;
    });
    REQUIRE(region->close_cleanly().ok());
  }
  std::string path() const { return folder_.file("pool"); }
  RawFile raw() const { return RawFile(path()); }
  uint32_t first_slab() const { return first_slab_; }
  uint64_t primary_word() const { return raw().superblock().extents[0].directory_offset; }
  uint64_t mirror_word() const { return mirror_offset(raw().superblock().extents[0]); }

 private:
  ScratchFolder folder_;
  uint32_t first_slab_ = 0;
};

void check_content(Region& region, uint32_t first_slab) {
  SlabEntry entry;
  CHECK(region.directory().load(first_slab, &entry) == SlabDirectory::Health::kIntact);
  CHECK(entry == SlabEntry{SlabState::kAssigned, 2, 17});
  CHECK(region.run_state().get().cas_limit == 4096);
  CHECK(region.run_state().get().wall_clock == 1700000000);
}

TEST_CASE("a pool without damage opens without findings") {
  UsedPool pool;
  auto region = open_or_fail(pool_options(pool.path()));
  CHECK(region->findings().empty());
  CHECK(region->last_run() == LastRun::kClean);
  check_content(*region, pool.first_slab());
}

TEST_CASE("one damaged superblock is restored from the other") {
  const size_t copy = GENERATE(0U, 1U);
  UsedPool pool;
  const RawFile raw = pool.raw();
  const Superblock before = raw.superblock();
  raw.flip(raw.superblock_offset(copy) + 200);
  auto region = open_or_fail(pool_options(pool.path()));
  REQUIRE(region->findings().size() == 1);
  CHECK_THAT(joined_findings(*region), Contains("one copy of the superblock was damaged"));
  CHECK(region->last_run() == LastRun::kClean);
  check_content(*region, pool.first_slab());
  region.reset();
  for (const size_t i : {0U, 1U}) {
    const auto now = raw.read_as<Superblock>(raw.superblock_offset(i));
    CHECK(std::memcmp(&now, &before, sizeof(before)) == 0);
  }
  CHECK(open_or_fail(pool_options(pool.path()))->findings().empty());
}

TEST_CASE("one damaged run state is restored from the other") {
  const size_t copy = GENERATE(0U, 1U);
  UsedPool pool;
  const RawFile raw = pool.raw();
  raw.flip(raw.run_state_offset(copy) + 60);
  auto region = open_or_fail(pool_options(pool.path()));
  REQUIRE(region->findings().size() == 1);
  CHECK_THAT(joined_findings(*region), Contains("one copy of the run state was damaged"));
  CHECK(region->last_run() == LastRun::kClean);
  check_content(*region, pool.first_slab());
}

TEST_CASE("two damaged run states count as a power cut and start from nothing") {
  UsedPool pool;
  const RawFile raw = pool.raw();
  raw.flip(raw.run_state_offset(0));
  raw.flip(raw.run_state_offset(1));
  {
    auto region = open_or_fail(pool_options(pool.path()));
    REQUIRE(region->findings().size() == 1);
    CHECK_THAT(joined_findings(*region),
               Contains("both copies of the run state were damaged") && Contains("flush_all"));
    CHECK(region->last_run() == LastRun::kPowerLost);
    CHECK(region->run_state().get().cas_limit == 0);
    CHECK(region->run_state().get().wall_clock == 0);
  }
  {
    // Nothing vouched for the content yet, so dying now is no better than the power cut.
    auto region = open_or_fail(pool_options(pool.path()));
    CHECK(region->findings().empty());
    CHECK(region->last_run() == LastRun::kPowerLost);
    REQUIRE(region->close_cleanly().ok());
  }
  CHECK(open_or_fail(pool_options(pool.path()))->last_run() == LastRun::kClean);
}

TEST_CASE("a run state update that a cut left half done is completed before the next one") {
  UsedPool pool;
  const RawFile raw = pool.raw();
  auto state = raw.read_as<RunState>(raw.run_state_offset(0));
  state.cas_limit = 8192;
  raw.write_as(raw.run_state_offset(0), seal_after(state.sequence, state));
  auto region = open_or_fail(pool_options(pool.path()));
  CHECK(region->findings().empty());
  CHECK(region->run_state().get().cas_limit == 8192);
  region.reset();
  raw.flip(raw.run_state_offset(0));
  CHECK(open_or_fail(pool_options(pool.path()))->run_state().get().cas_limit == 8192);
}

TEST_CASE("damaged directory words are restored from their other copy") {
  UsedPool pool;
  const bool primary = GENERATE(true, false);
  pool.raw().flip(primary ? pool.primary_word() : pool.mirror_word());
  {
    auto region = open_or_fail(pool_options(pool.path()));
    CHECK_THAT(joined_findings(*region), Contains("1 words of the slab directory were damaged"));
    check_content(*region, pool.first_slab());
  }
  CHECK(open_or_fail(pool_options(pool.path()))->findings().empty());
}

TEST_CASE("a slab with two damaged directory words is reported and the others stay") {
  UsedPool pool;
  pool.raw().flip(pool.primary_word() + 8);
  pool.raw().flip(pool.mirror_word() + 8);
  auto region = open_or_fail(pool_options(pool.path()));
  CHECK_THAT(joined_findings(*region), Contains("both directory words of 1 slabs are damaged"));
  SlabEntry entry;
  CHECK(region->directory().load(pool.first_slab() + 1, &entry) == SlabDirectory::Health::kDamaged);
  check_content(*region, pool.first_slab());
}

TEST_CASE("harmless damage in libpmemobj's logs is survived") {
  UsedPool pool;
  pool.raw().flip(8192 + 3000);
  auto region = open_or_fail(pool_options(pool.path()));
  check_content(*region, pool.first_slab());
  CHECK_THAT(joined_findings(*region), Contains("libpmemobj's own metadata is damaged"));
}

TEST_CASE("logs that libpmemobj dies of are refused with a sentence") {
  UsedPool pool;
  const std::vector<std::byte> junk(1 << 20, std::byte{0x77});
  pool.raw().write(8192, junk.data(), junk.size());
  const Status status = open_refused(pool_options(pool.path()));
  CHECK(status.code() == Status::Code::kCorrupt);
  CHECK_THAT(status.message(), Contains("libpmemobj's metadata in pool " + pool.path()));
}

TEST_CASE("a heap size that libpmemobj dies of is refused with the signal") {
  UsedPool pool;
  pool.raw().flip(6176 + 2);
  const Status status = open_refused(pool_options(pool.path()));
  CHECK(status.code() == Status::Code::kCorrupt);
  CHECK_THAT(status.message(), Contains("signal 11"));
}

TEST_CASE("a run in another boot counts as a power cut until recovery is done") {
  UsedPool pool;
  const RawFile raw = pool.raw();
  auto state = raw.read_as<RunState>(raw.run_state_offset(0));
  state.clean = 0;
  state.boot_id = {"00000000-1111-2222-3333-444444444444"};
  state = seal_after(state.sequence, state);
  for (const size_t copy : {0U, 1U}) raw.write_as(raw.run_state_offset(copy), state);

  CHECK(open_or_fail(pool_options(pool.path()))->last_run() == LastRun::kPowerLost);
  auto region = open_or_fail(pool_options(pool.path()));
  CHECK(region->last_run() == LastRun::kPowerLost);
  region->mark_recovered();
  region.reset();
  region = open_or_fail(pool_options(pool.path()));
  CHECK(region->last_run() == LastRun::kProcessDied);
  CHECK(region->run_state().get().cas_limit == 4096);
}

}  // namespace
}  // namespace pmcached::pmem
