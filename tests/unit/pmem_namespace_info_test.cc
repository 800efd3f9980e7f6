#include <catch2/catch.hpp>

#include "pmem/namespace_info.h"

namespace pmcached::pmem {
namespace {

using Catch::StartsWith;

TEST_CASE("a path in memory has no namespace and the sentence says so") {
  const NamespaceInfo info = describe_namespace("/dev/shm/not-there.pool");
  CHECK_FALSE(info.found);
  CHECK(info.persistence_domain == "unknown");
  CHECK(info.numa_node == -1);
  CHECK(info.explanation == "no NVDIMM here: no block device carries /dev/shm/not-there.pool");
}

TEST_CASE("a path whose folder is missing is no failure") {
  CHECK_THAT(describe_namespace("/no/such/folder/pool").explanation,
             StartsWith("no NVDIMM here: "));
  CHECK_THAT(describe_namespace("").explanation, StartsWith("no NVDIMM here: "));
}

TEST_CASE("every answer explains itself") {
  const NamespaceInfo info = describe_namespace("/usr");
  if (info.found) {
    CHECK_FALSE(info.name.empty());
    CHECK_THAT(info.explanation, StartsWith("/usr is on "));
  } else {
    CHECK_THAT(info.explanation, StartsWith("no NVDIMM here: "));
  }
}

}  // namespace
}  // namespace pmcached::pmem
