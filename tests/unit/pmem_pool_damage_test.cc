// Sweeps of damage through everything that opening a pool reads: whatever a byte becomes, opening
// either succeeds, with the items' parts in order, or fails with a sentence.

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "pmem/extent_plan.h"
#include "tests/unit/pmem_test_pool.h"

namespace pmcached::pmem {
namespace {

using test::open_or_fail;
using test::pool_options;
using test::RawFile;
using test::ScratchFolder;

/// Of long runs of zeros only each so-many-th byte is tried.
constexpr size_t kStrideOverZeros = 97;

/// A part of the file that is damaged, or that opening may change, as it was when all was well.
struct Part {
  uint64_t offset;
  std::vector<std::byte> content;
};

/// A pool whose headers are put back after every trial.
class DamagedPool {
 public:
  DamagedPool() {
    {
      auto region = open_or_fail(pool_options(path_));
      region->directory().store(region->slab_ranges()[0].first, {SlabState::kAssigned, 1, 1});
      region->run_state().update([](RunState& state) { state.cas_limit = 4711; });
      slabs_ = region->slab_ranges()[0];
      REQUIRE(region->close_cleanly().ok());
    }
    const RawFile raw(path_);
    const Extent extent = raw.superblock().extents[0];
    keep(0, 8192);
    keep(raw.root_page(), sizeof(PoolRoot));
    keep(extent.directory_offset, 2 * directory_copy_bytes(extent.slab_count));
  }

  std::string path() const { return path_; }
  const Part& headers() const { return parts_[0]; }
  const Part& root() const { return parts_[1]; }
  const Part& directory() const { return parts_[2]; }

  void damage(uint64_t offset, uint8_t mask) const { RawFile(path_).flip(offset, mask); }
  void restore() const {
    const RawFile raw(path_);
    for (const Part& part : parts_)
      raw.write(part.offset, part.content.data(), part.content.size());
  }

  /// Opens the damaged pool. True if that succeeded.
  bool try_open() const {
    std::unique_ptr<Region> region;
    const Status status = open_pool(pool_options(path_), &region);
    if (!status.ok()) {
      REQUIRE(region == nullptr);
      REQUIRE(status.message().size() > path_.size());
      REQUIRE(status.message().find(path_) != std::string::npos);
      return false;
    }
    REQUIRE(region->slab_ranges().size() == 1);
    REQUIRE(region->slab_ranges()[0].first == slabs_.first);
    REQUIRE(region->slab_ranges()[0].count == slabs_.count);
    const uint64_t cas_limit = region->run_state().get().cas_limit;
    REQUIRE((cas_limit == 4711 || !region->findings().empty()));
    SlabEntry entry;
    REQUIRE(region->directory().load(slabs_.first, &entry) == SlabDirectory::Health::kIntact);
    REQUIRE(entry.generation == 1);
    return true;
  }

 private:
  void keep(uint64_t offset, size_t size) {
    parts_.push_back({offset, RawFile(path_).read(offset, size)});
  }

  ScratchFolder folder_;
  std::string path_ = folder_.file("pool");
  SlabRange slabs_;
  std::vector<Part> parts_;
};

struct Outcomes {
  int opened = 0;
  int refused = 0;
};

/// Damages each `stride`-th of the bytes that are not zero, one at a time.
Outcomes sweep(const DamagedPool& pool, const Part& part, size_t stride) {
  Outcomes outcomes;
  for (size_t at = 0; at < part.content.size(); ++at) {
    const bool is_zero = part.content[at] == std::byte{0};
    const bool worth_it = at % (is_zero ? kStrideOverZeros : stride) == 0;
    if (!worth_it) continue;
    const uint64_t offset = part.offset + at;
    INFO("byte " << offset);
    pool.damage(offset, at % 2 == 0 ? 0xff : static_cast<uint8_t>(1U << at % 8));
    ++(pool.try_open() ? outcomes.opened : outcomes.refused);
    pool.restore();
  }
  return outcomes;
}

TEST_CASE("no damaged byte in libpmemobj's headers makes opening crash") {
  const DamagedPool pool;
  const Outcomes outcomes = sweep(pool, pool.headers(), 1);
  CHECK(outcomes.opened > 0);
  CHECK(outcomes.refused > 100);
}

TEST_CASE("no damaged byte in the root object keeps the pool from opening") {
  const DamagedPool pool;
  const Outcomes outcomes = sweep(pool, pool.root(), 3);
  CHECK(outcomes.opened > 100);
  CHECK(outcomes.refused == 0);
}

TEST_CASE("no damaged byte in the slab directory keeps the pool from opening") {
  const DamagedPool pool;
  const Outcomes outcomes = sweep(pool, pool.directory(), 9);  // each place within a word
  CHECK(outcomes.opened > 100);
  CHECK(outcomes.refused == 0);
}

TEST_CASE("damage in libpmemobj's logs and heap headers never makes opening crash") {
  const DamagedPool pool;
  const RawFile raw(pool.path());
  const size_t size = pool.root().offset - 8192;
  const std::vector<std::byte> intact = raw.read(8192, size);
  std::vector<size_t> places;
  for (size_t at = 0; at < size; ++at) {
    if (intact[at] != std::byte{0}) places.push_back(at);
  }
  std::mt19937_64 random(31);
  std::shuffle(places.begin(), places.end(), random);
  places.resize(std::min<size_t>(places.size(), 40));
  for (int i = 0; i < 20; ++i) places.push_back(random() % size);
  for (const size_t at : places) {
    INFO("byte " << 8192 + at);
    pool.damage(8192 + at, static_cast<uint8_t>(1 + random() % 255));
    pool.try_open();
    raw.write(8192, intact.data(), intact.size());
    pool.restore();
  }
  CHECK(pool.try_open());
}

TEST_CASE("random bytes in place of headers never make opening crash") {
  const DamagedPool pool;
  const RawFile raw(pool.path());
  std::mt19937_64 random(97);
  for (int trial = 0; trial < 40; ++trial) {
    const Part& part = trial % 2 == 0 ? pool.headers() : pool.root();
    const size_t begin = random() % part.content.size();
    const size_t size = 1 + random() % std::min<size_t>(part.content.size() - begin, 2048);
    std::vector<uint8_t> junk(size);
    for (uint8_t& byte : junk) byte = static_cast<uint8_t>(random());
    INFO("trial " << trial << ": " << size << " bytes from " << part.offset + begin);
    raw.write(part.offset + begin, junk.data(), junk.size());
    pool.try_open();
    pool.restore();
  }
  CHECK(pool.try_open());
}

}  // namespace
}  // namespace pmcached::pmem
