#include <catch2/catch.hpp>
#include <string_view>

#include "pmem/checksum.h"

namespace pmcached::pmem {
namespace {

uint32_t crc32c(std::string_view text) {
  return ~extend_crc32c(kCrc32cStart, text.data(), text.size());
}

TEST_CASE("the checksum is CRC32C as RFC 3720 defines it") {
  CHECK(crc32c("123456789") == 0xe3069283);
  CHECK(crc32c(std::string_view("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                                32)) == 0x8a9136aa);
}

TEST_CASE("a checksum continued over parts is the checksum of the whole") {
  const std::string_view text = "a record, its key and its value";
  const uint32_t whole = extend_crc32c(77, text.data(), text.size());
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    const uint32_t front = extend_crc32c(77, text.data(), cut);
    CHECK(extend_crc32c(front, text.data() + cut, text.size() - cut) == whole);
  }
}

TEST_CASE("the checksum of no bytes is its start value") {
  CHECK(extend_crc32c(0x12345678, nullptr, 0) == 0x12345678);
}

}  // namespace
}  // namespace pmcached::pmem
