#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "pmem/extent_plan.h"
#include "pmem/two_copies.h"
#include "tests/unit/pmem_test_pool.h"

namespace pmcached::pmem {
namespace {

using Catch::Contains;
using test::joined_findings;
using test::kMib;
using test::open_or_fail;
using test::open_refused;
using test::pool_options;
using test::RawFile;
using test::ScratchFolder;

std::byte* slab_at(const Region& region, uint32_t slab) {
  return region.base() + slab * kSlabSize;
}

/// Creates a 64 MiB pool with a mark in its first slab.
void create_marked_pool(const std::string& path) {
  auto region = open_or_fail(pool_options(path));
  const uint32_t slab = region->slab_ranges()[0].first;
  region->directory().store(slab, {SlabState::kAssigned, 1, 5});
  std::memcpy(slab_at(*region, slab), "before growth", 13);
  REQUIRE(region->close_cleanly().ok());
}

void check_mark(Region& region) {
  const uint32_t slab = region.slab_ranges()[0].first;
  SlabEntry entry;
  CHECK(region.directory().load(slab, &entry) == SlabDirectory::Health::kIntact);
  CHECK(entry == SlabEntry{SlabState::kAssigned, 1, 5});
  CHECK(std::memcmp(slab_at(region, slab), "before growth", 13) == 0);
}

TEST_CASE("a larger size grows the pool and keeps what it holds") {
  ScratchFolder folder;
  const std::string path = folder.file("pool");
  create_marked_pool(path);
  uint32_t seed = 0;
  {
    auto region = open_or_fail(pool_options(path, 80));
    CHECK(region->findings().empty());
    CHECK(region->last_run() == LastRun::kClean);
    CHECK(region->bytes() == 80 * kMib);
    check_mark(*region);
    REQUIRE(region->slab_ranges().size() == 2);
    CHECK(region->slab_ranges()[1].first == 65);
    CHECK(region->slab_ranges()[1].count == 15);
    SlabEntry entry;
    CHECK(region->directory().load(79, &entry) == SlabDirectory::Health::kIntact);
    CHECK(entry == SlabEntry{});
    std::memset(slab_at(*region, 79), 0x5e, kSlabSize);
    seed = region->checksum_seed();
  }
  // Killed, and with the size left out, the pool is as large as before.
  auto region = open_or_fail(pool_options(path, 0));
  CHECK(region->last_run() == LastRun::kProcessDied);
  CHECK(region->bytes() == 80 * kMib);
  CHECK(region->checksum_seed() == seed);
  CHECK(slab_at(*region, 79)[kSlabSize - 1] == std::byte{0x5e});
  check_mark(*region);
  const auto superblock = RawFile(path).superblock();
  CHECK(superblock.sequence == 2);
  CHECK(superblock.pool_bytes == 80 * kMib);
}

TEST_CASE("a pool can grow again and again, until its extent table is full") {
  ScratchFolder folder;
  const std::string path = folder.file("pool");
  create_marked_pool(path);
  uint64_t mib = 64;
  for (uint32_t extents = 1; extents < kMaxExtents; ++extents) {
    mib += 2;
    auto region = open_or_fail(pool_options(path, mib));
    REQUIRE(region->slab_ranges().size() == extents + 1);
    REQUIRE(region->slab_limit() == mib);
    REQUIRE(region->close_cleanly().ok());
  }
  const Status status = open_refused(pool_options(path, mib + 2));
  CHECK(status.code() == Status::Code::kInvalid);
  CHECK_THAT(status.message(), Contains("has grown as often as a pool can"));
  CHECK(std::filesystem::file_size(path) == mib * kMib);
  check_mark(*open_or_fail(pool_options(path, mib)));
}

TEST_CASE("growing by less than a slab and its directory is refused") {
  ScratchFolder folder;
  const std::string path = folder.file("pool");
  create_marked_pool(path);
  const Status status = open_refused(pool_options(path, 65));
  CHECK(status.code() == Status::Code::kInvalid);
  CHECK_THAT(status.message(), Contains("has 64 MiB") && Contains("-m 66 or larger"));
}

TEST_CASE("sizes are rounded down to whole MiB") {
  ScratchFolder folder;
  PoolOptions options = pool_options(folder.file("pool"));
  options.bytes = 64 * kMib + 12345;
  CHECK(open_or_fail(options)->bytes() == 64 * kMib);
  CHECK(open_or_fail(options)->bytes() == 64 * kMib);
}

TEST_CASE("a growth cut before its commit leaves a pool that works and can still grow") {
  ScratchFolder folder;
  const std::string path = folder.file("pool");
  create_marked_pool(path);
  REQUIRE(truncate(path.c_str(), 80 * kMib) == 0);
  {
    auto region = open_or_fail(pool_options(path, 64));
    CHECK(region->bytes() == 64 * kMib);
    CHECK(region->slab_ranges().size() == 1);
    CHECK_THAT(joined_findings(*region),
               Contains("the file has 16 MiB more than the pool") && Contains("-m 80"));
    check_mark(*region);
    REQUIRE(region->close_cleanly().ok());
  }
  const uint64_t mib = GENERATE(72U, 80U, 96U);
  auto region = open_or_fail(pool_options(path, mib));
  CHECK(region->bytes() == mib * kMib);
  CHECK(region->slab_limit() == mib);
  CHECK(std::filesystem::file_size(path) == (mib == 72 ? 80 : mib) * kMib);
  check_mark(*region);
}

TEST_CASE("a growth cut between the superblock copies counts") {
  ScratchFolder folder;
  const std::string path = folder.file("pool");
  create_marked_pool(path);
  const auto old = RawFile(path).superblock();
  REQUIRE(open_or_fail(pool_options(path, 80))->close_cleanly().ok());
  const RawFile raw(path);
  raw.write_as(raw.superblock_offset(1), old);
  auto region = open_or_fail(pool_options(path, 80));
  CHECK(region->findings().empty());
  CHECK(region->bytes() == 80 * kMib);
  check_mark(*region);
  region.reset();
  CHECK(raw.read_as<Superblock>(raw.superblock_offset(1)).pool_bytes == 80 * kMib);
}

TEST_CASE("a growth cut within the first superblock copy never happened") {
  ScratchFolder folder;
  const std::string path = folder.file("pool");
  create_marked_pool(path);
  const auto old = RawFile(path).superblock();
  REQUIRE(open_or_fail(pool_options(path, 80))->close_cleanly().ok());
  const RawFile raw(path);
  Superblock torn = raw.superblock();
  std::memcpy(&torn, &old, 64);
  raw.write_as(raw.superblock_offset(0), torn);
  raw.write_as(raw.superblock_offset(1), old);
  auto region = open_or_fail(pool_options(path, 0));
  CHECK(region->bytes() == 64 * kMib);
  CHECK(region->findings().size() == 2);
  check_mark(*region);
}

TEST_CASE("a pool with holes is given its blocks at opening") {
  ScratchFolder folder;
  const std::string path = folder.file("pool");
  create_marked_pool(path);
  const RawFile raw(path);
  const std::string sparse = folder.file("sparse");
  {
    const FileDescriptor copy(open(sparse.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    REQUIRE(ftruncate(copy.get(), 64 * kMib) == 0);
    for (uint64_t at = 0; at < 64 * kMib; at += kPageSize) {
      const std::vector<std::byte> page = raw.read(at, kPageSize);
      if (page == std::vector<std::byte>(kPageSize)) continue;
      REQUIRE(pwrite(copy.get(), page.data(), page.size(), static_cast<off_t>(at)) > 0);
    }
  }
  check_mark(*open_or_fail(pool_options(sparse)));
  struct stat facts {};
  REQUIRE(stat(sparse.c_str(), &facts) == 0);
  CHECK(static_cast<uint64_t>(facts.st_blocks) * 512 >= 64 * kMib);
}

}  // namespace
}  // namespace pmcached::pmem
