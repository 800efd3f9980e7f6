#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <string_view>

#include "engine/arithmetic.h"

namespace pmcached::engine {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST_CASE("numbers are read as memcached reads them") {
  using namespace std::string_view_literals;
  REQUIRE(parse_number("0") == 0U);
  REQUIRE(parse_number("007") == 7U);
  REQUIRE(parse_number("18446744073709551615") == kMax);
  REQUIRE(parse_number("5   ") == 5U);
  REQUIRE(parse_number("5\r\n") == 5U);
  REQUIRE(parse_number(" \t5") == 5U);
  REQUIRE(parse_number("+5") == 5U);
  REQUIRE(parse_number("5 apples") == 5U);
  REQUIRE(parse_number("5\0rest"sv) == 5U);
  REQUIRE(parse_number("-0") == 0U);
}

TEST_CASE("what is no unsigned 64-bit number is refused") {
  for (const std::string_view text :
       {"", " ", "abc", "5a", "0x10", "1.5", "-1", "-5", "18446744073709551616",
        "99999999999999999999999", "+", "-", "+-5", "- 5", "1,000"}) {
    CAPTURE(text);
    REQUIRE_FALSE(parse_number(text).has_value());
  }
}

TEST_CASE("a number that became shorter is padded with spaces, a longer one is not cut") {
  REQUIRE(format_number(9, 2) == "9 ");
  REQUIRE(format_number(10, 2) == "10");
  REQUIRE(format_number(100, 2) == "100");
  REQUIRE(format_number(0, 0) == "0");
  REQUIRE(format_number(kMax, 1) == "18446744073709551615");
  REQUIRE(parse_number(format_number(9, 5)) == 9U);
}

TEST_CASE("incr wraps around at 2^64, decr stops at 0") {
  REQUIRE(apply_delta(1, 2, true) == 3);
  REQUIRE(apply_delta(kMax, 1, true) == 0);
  REQUIRE(apply_delta(kMax, kMax, true) == kMax - 1);
  REQUIRE(apply_delta(3, 2, false) == 1);
  REQUIRE(apply_delta(3, 3, false) == 0);
  REQUIRE(apply_delta(3, 4, false) == 0);
  REQUIRE(apply_delta(0, kMax, false) == 0);
}

}  // namespace
}  // namespace pmcached::engine
