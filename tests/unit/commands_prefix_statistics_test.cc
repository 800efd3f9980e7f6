#include <catch2/catch.hpp>
#include <string>

#include "server/commands/prefix_statistics.h"

namespace pmcached::server {
namespace {

using Command = PrefixStatistics::Command;

}  // namespace

TEST_CASE("commands are counted by prefix while switched on") {
  PrefixStatistics statistics('/', false);
  statistics.count(Command::kGet, "a/1", true);
  CHECK(statistics.dump() == "END\r\n");
  statistics.enable(true);
  statistics.count(Command::kGet, "b/1", true);
  statistics.count(Command::kGet, "b/2", false);
  statistics.count(Command::kSet, "a/1/2");
  statistics.count(Command::kDelete, "b/9");
  statistics.count(Command::kDelete, "none");
  statistics.count(Command::kDelete, "other:delimiter");
  CHECK(statistics.dump() ==
        "PREFIX a get 0 hit 0 set 1 del 0\r\n"
        "PREFIX b get 2 hit 1 set 0 del 1\r\n"
        "END\r\n");
  statistics.clear();
  CHECK(statistics.dump() == "END\r\n");
}

TEST_CASE("prefixes made up by a client do not fill the memory") {
  PrefixStatistics statistics(':', true);
  for (size_t i = 0; i <= PrefixStatistics::kMaxPrefixes; ++i) {
    statistics.count(Command::kSet, std::to_string(i) + ":");
  }
  statistics.count(Command::kSet, "0:");
  const std::string dump = statistics.dump();
  CHECK(dump.find("PREFIX 0 get 0 hit 0 set 2 del 0\r\n") != std::string::npos);
  CHECK(dump.find("PREFIX " + std::to_string(PrefixStatistics::kMaxPrefixes)) == std::string::npos);
}

}  // namespace pmcached::server
