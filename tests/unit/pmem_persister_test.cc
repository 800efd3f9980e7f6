#include <fcntl.h>
#include <sys/mman.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>

#include "pmem/persister.h"

namespace pmcached::pmem {
namespace {

TEST_CASE("copies and zeroes change exactly the bytes they name") {
  const Medium medium = GENERATE(Medium::kAnonymous, Medium::kPageCache, Medium::kPmem);
  const Persister persister(medium);
  CHECK(persister.medium() == medium);
  std::array<unsigned char, 1024> source{};
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i % 251 + 1);
  for (const size_t offset : {0U, 1U, 7U, 63U, 64U, 200U}) {
    for (const size_t size : {0U, 1U, 8U, 63U, 64U, 65U, 300U, 512U}) {
      alignas(64) std::array<unsigned char, 1024> target{};
      std::array<unsigned char, 1024> expected{};
      persister.copy(target.data() + offset, source.data() + 3, size);
      persister.fence();
      std::memcpy(expected.data() + offset, source.data() + 3, size);
      REQUIRE(target == expected);

      target.fill(0xee);
      expected.fill(0xee);
      persister.zero(target.data() + offset, size);
      persister.persist(target.data(), target.size());
      std::memset(expected.data() + offset, 0, size);
      REQUIRE(target == expected);
    }
  }
}

TEST_CASE("syncing memory that is not mapped fails with a sentence on the page cache only") {
  constexpr size_t kBytes = 8192;
  void* gone = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(gone != MAP_FAILED);
  REQUIRE(munmap(gone, kBytes) == 0);
  CHECK(Persister(Medium::kAnonymous).sync(gone, kBytes).ok());
  CHECK(Persister(Medium::kPmem).sync(gone, kBytes).ok());
  const Status status = Persister(Medium::kPageCache).sync(gone, kBytes);
  REQUIRE_FALSE(status.ok());
  CHECK(status.code() == Status::Code::kIo);
  CHECK_THAT(status.message(), Catch::Contains("cannot sync 8192 bytes to the disk: "));
}

}  // namespace
}  // namespace pmcached::pmem
