#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "engine/item/item_layout.h"
#include "engine/options.h"
#include "engine/slab/size_class.h"

namespace pmcached::engine {
namespace {

TEST_CASE("size classes grow from the smallest record to half a slab, whatever the factor") {
  const double factor = GENERATE(1.001, 1.01, 1.05, 1.08, 1.25, 1.5, 2.0, 4.0, 100.0);
  const uint32_t min_space = GENERATE(1U, 32U, 33U, 48U, 96U, 1'000U, 100'000U, 2'000'000U);
  CAPTURE(factor, min_space);
  const std::vector<uint32_t> lines = make_size_classes(factor, min_space);
  REQUIRE(!lines.empty());
  REQUIRE(lines.size() <= pmem::kMaxSizeClasses);
  REQUIRE(lines.back() == pmem::kLinesPerSlab / 2);
  REQUIRE(std::adjacent_find(lines.begin(), lines.end(), std::greater_equal<>()) == lines.end());
  if (lines.size() > 1) {
    const uint64_t smallest = lines.front() * pmem::kLineSize;
    REQUIRE(smallest >= sizeof(RecordHeader) + min_space);
    REQUIRE(smallest < sizeof(RecordHeader) + min_space + pmem::kLineSize);
  }
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    REQUIRE(lines[i] >= lines[i - 1] * factor);
    REQUIRE(lines[i] <= std::max<double>(lines[i - 1] * factor + 1, lines[i - 1] + 1));
  }
}

TEST_CASE("a record goes to the smallest class that holds it") {
  const SizeClasses classes(make_size_classes(GENERATE(1.05, 1.25, 2.0), 48));
  for (uint64_t bytes = 1; bytes <= classes.largest_slot_bytes(); bytes += bytes < 9'000 ? 1 : 61) {
    const SizeClass size_class = classes.class_for(bytes);
    REQUIRE(classes.slot_bytes(size_class) >= bytes);
    REQUIRE((size_class == 0 || classes.slot_bytes(size_class - 1) < bytes));
  }
  REQUIRE(classes.class_for(classes.largest_slot_bytes()) == classes.largest());
}

TEST_CASE("every line of a slab is found to belong to its slot, in every class") {
  const SizeClasses classes(
      make_size_classes(GENERATE(1.01, 1.05, 1.25, 2.0, 4.0), GENERATE(1U, 48U)));
  for (SizeClass size_class = 0; size_class < classes.count(); ++size_class) {
    const uint32_t lines = classes.slot_lines(size_class);
    REQUIRE(classes.slots_per_slab(size_class) == pmem::kLinesPerSlab / lines);
    for (uint32_t line = 0; line < pmem::kLinesPerSlab; ++line) {
      if (classes.slot_index(size_class, line) != line / lines) {
        FAIL("line " << line << " of slots of " << lines << " lines");
      }
    }
  }
}

TEST_CASE("any table of slot sizes works, up to the greatest number of classes") {
  std::vector<uint32_t> lines;
  for (uint32_t i = 1; i < pmem::kMaxSizeClasses; ++i) {
    lines.push_back(i * 3);
  }
  lines.push_back(pmem::kLinesPerSlab / 2);
  const SizeClasses classes(lines);
  REQUIRE(classes.count() == pmem::kMaxSizeClasses);
  REQUIRE(classes.class_for(1) == 0);
  REQUIRE(classes.class_for(3 * pmem::kLineSize) == 0);
  REQUIRE(classes.class_for(3 * pmem::kLineSize + 1) == 1);
  REQUIRE(classes.class_for(62 * 3 * pmem::kLineSize + 1) == classes.largest());
}

}  // namespace
}  // namespace pmcached::engine
