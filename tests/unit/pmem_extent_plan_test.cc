#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "pmem/extent_plan.h"

namespace pmcached::pmem {
namespace {

constexpr uint64_t kMib = uint64_t{1} << 20;

Extent plan_or_fail(uint64_t offset, uint64_t bytes) {
  const Extent extent = plan_extent(offset, bytes);
  REQUIRE(extent.slab_count > 0);
  return extent;
}

TEST_CASE("an extent behind a MiB boundary spends one MiB on its directory") {
  const Extent extent = plan_or_fail(64 * kMib, 16 * kMib);
  CHECK(extent.directory_offset == 64 * kMib);
  CHECK(mirror_offset(extent) == 64 * kMib + kPageSize);
  CHECK(extent.first_slab == 65);
  CHECK(extent.slab_count == 15);
}

TEST_CASE("an extent of the largest size keeps its directory in front of its slabs") {
  const Extent extent = plan_or_fail(0x482410, kMaxExtentBytes);
  CHECK(extent.first_slab == 5);
  CHECK(extent.slab_count == 16381);
}

TEST_CASE("the directory of a terabyte takes the MiB it needs") {
  const Extent extent = plan_or_fail(kMib, kMib * kMib);
  CHECK(extent.first_slab == 17);
  CHECK(extent.slab_count == kMib - 16);
}

TEST_CASE("an extent too small for a slab gets none") {
  CHECK(plan_extent(64 * kMib, kMib).slab_count == 0);
  CHECK(plan_extent(64 * kMib, 0).slab_count == 0);
  CHECK(plan_extent(64 * kMib + 16, 2 * kMib - 32).slab_count == 0);
  CHECK(plan_extent(64 * kMib, 2 * kMib).slab_count == 1);
}

TEST_CASE("planned extents are without fault wherever they lie") {
  std::mt19937_64 random(20240501);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t offset = random() % (uint64_t{1} << 40) / 16 * 16;
    const uint64_t bytes = 2 * kMib + random() % (uint64_t{1} << 38);
    const Extent extent = plan_extent(offset, bytes);
    if (extent.slab_count == 0) continue;
    CHECK(find_extent_fault({&extent, 1}, offset, offset + bytes).empty());
  }
}

TEST_CASE("extents out of bounds or order are faults") {
  const Extent first = plan_or_fail(8 * kMib, 8 * kMib);
  const Extent second = plan_or_fail(16 * kMib, 8 * kMib);
  const uint64_t end = 24 * kMib;
  const auto fault = [&](std::vector<Extent> extents) {
    return find_extent_fault(extents, 8 * kMib, end);
  };
  CHECK(fault({first, second}).empty());
  CHECK(fault({second, first}).find("extent 1 is not within") != std::string::npos);
  CHECK(fault({first, first}).find("extent 1 is not within") != std::string::npos);

  Extent bad = first;
  bad.offset = 7 * kMib;
  CHECK(fault({bad}).find("extent 0 is not within") != std::string::npos);
  bad = first;
  bad.bytes = ~uint64_t{0};
  CHECK(fault({bad}).find("extent 0 is not within") != std::string::npos);
  bad = first;
  bad.slab_count = 0;
  CHECK(fault({bad}).find("cannot have 0 slabs") != std::string::npos);
  bad.slab_count = 9;
  CHECK(fault({bad}).find("cannot have 9 slabs") != std::string::npos);
  bad = first;
  bad.directory_offset += 8;
  CHECK(fault({bad}).find("directory of extent 0") != std::string::npos);
  bad.directory_offset = ~uint64_t{0} - 4095;
  CHECK(fault({bad}).find("directory of extent 0") != std::string::npos);
  bad = first;
  bad.first_slab = 8;
  CHECK(fault({bad}).find("cannot start at slab 8") != std::string::npos);
  bad.first_slab = 10;
  CHECK(fault({bad}).find("cannot start at slab 10") != std::string::npos);
  bad.first_slab = ~uint32_t{0};
  CHECK(fault({bad}).find("cannot start at slab 4294967295") != std::string::npos);
}

TEST_CASE("whatever extents say, those without fault stay within their bounds") {
  constexpr uint64_t kBegin = 4 * kMib;
  constexpr uint64_t kEnd = 64 * kMib;
  std::mt19937_64 random(7);
  const auto any = [&random](uint64_t likely) {
    return random() % 3 == 0 ? random() : random() % likely;
  };
  int accepted = 0;
  for (int i = 0; i < 200000; ++i) {
    const uint64_t offset = any(kEnd);
    Extent extent = plan_extent(offset % kEnd, any(kEnd) % kEnd);
    switch (random() % 5) {
      case 0:
        extent.offset = offset;
        break;
      case 1:
        extent.bytes = any(kEnd);
        break;
      case 2:
        extent.directory_offset = any(kEnd) / kPageSize * kPageSize;
        break;
      case 3:
        extent.first_slab = static_cast<uint32_t>(any(64));
        break;
      default:
        extent.slab_count = static_cast<uint32_t>(any(64));
        break;
    }
    if (!find_extent_fault({&extent, 1}, kBegin, kEnd).empty()) continue;
    ++accepted;
    REQUIRE(extent.directory_offset >= kBegin);
    REQUIRE(mirror_offset(extent) + directory_copy_bytes(extent.slab_count) <=
            extent.first_slab * kSlabSize);
    REQUIRE((uint64_t{extent.first_slab} + extent.slab_count) * kSlabSize <= kEnd);
  }
  CHECK(accepted > 1000);
}

}  // namespace
}  // namespace pmcached::pmem
