#include <catch2/catch.hpp>

#include "server/protocol/text_number.h"

namespace pmcached::server {

TEST_CASE("decimal numbers are read up to the limits of their type") {
  CHECK(parse_unsigned("0") == 0U);
  CHECK(parse_unsigned("007") == 7U);
  CHECK(parse_unsigned("18446744073709551615") == UINT64_MAX);
  CHECK(parse_signed("-9223372036854775808") == INT64_MIN);
  CHECK(parse_signed("9223372036854775807") == INT64_MAX);
  CHECK(!parse_unsigned("18446744073709551616"));
  CHECK(!parse_signed("9223372036854775808"));
  CHECK(!parse_signed("-9223372036854775809"));
}

TEST_CASE("an unsigned number below zero is none, but minus zero is zero") {
  CHECK(!parse_unsigned("-1"));
  CHECK(!parse_unsigned("-18446744073709551615"));
  CHECK(!parse_unsigned("--0"));
  CHECK(parse_unsigned("-0") == 0U);
  CHECK(parse_signed("-0") == 0);
}

TEST_CASE("a plus sign is allowed, alone or with a minus it is not") {
  CHECK(parse_unsigned("+5") == 5U);
  CHECK(parse_signed("+5") == 5);
  CHECK(!parse_unsigned("+"));
  CHECK(!parse_unsigned("-"));
  CHECK(!parse_unsigned("+-5"));
  CHECK(!parse_signed("+-5"));
  CHECK(!parse_signed("-+5"));
  CHECK(!parse_signed("++5"));
}

TEST_CASE("white space may stand in front, and with anything behind it after the number") {
  CHECK(parse_unsigned("\t 5") == 5U);
  CHECK(parse_unsigned("5\t") == 5U);
  CHECK(parse_unsigned("5\rabc") == 5U);
  CHECK(parse_signed("\v-5\f9") == -5);
  CHECK(!parse_unsigned("+ 5"));
}

TEST_CASE("anything else is no number") {
  for (const char* word : {"", " ", "x", "5x", "0x10", "1.5", "1e3", "5,", "noreply"}) {
    INFO(word);
    CHECK(!parse_unsigned(word));
    CHECK(!parse_signed(word));
  }
}

}  // namespace pmcached::server
