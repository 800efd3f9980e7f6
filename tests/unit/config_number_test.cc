#include <catch2/catch.hpp>

#include "server/config/number.h"

namespace pmcached::server {
namespace {

TEST_CASE("an integer must be the whole text and within its bounds") {
  CHECK(parse_integer("0", 0, 10) == 0);
  CHECK(parse_integer("-1", -1, 65535) == -1);
  CHECK(parse_integer("10", 0, 10) == 10);
  for (const char* text :
       {"", " 1", "1 ", "1x", "x", "+1", "11", "-1", "0x5", "1.0", "99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_integer(text, 0, 10));
  }
}

TEST_CASE("a decimal must be the whole text and finite") {
  CHECK(parse_decimal("1.25") == 1.25);
  CHECK(parse_decimal("2") == 2.0);
  for (const char* text : {"", "1,25", "1.25x", "nan", "inf", "1e999"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_decimal(text));
  }
}

TEST_CASE("a file mode is octal and has nine bits") {
  CHECK(parse_file_mode("700") == 0700U);
  CHECK(parse_file_mode("0777") == 0777U);
  CHECK(parse_file_mode("0") == 0U);
  for (const char* text : {"", "8", "1000", "-1", "rwx"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_file_mode(text));
  }
}

TEST_CASE("a size may have a suffix of 1024") {
  CHECK(parse_size("1024") == 1024U);
  CHECK(parse_size("1k") == 1024U);
  CHECK(parse_size("5M") == 5U << 20);
  CHECK(parse_size("1g") == 1U << 30);
  for (const char* text : {"", "k", "1kk", "1t", "-1k", "1.5m", "99999999999999999g"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_size(text));
  }
}

}  // namespace
}  // namespace pmcached::server
