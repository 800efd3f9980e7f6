#include <catch2/catch.hpp>
#include <string>

#include "server/protocol/limits.h"
#include "server/protocol/text_line.h"
#include "server/protocol/text_tokens.h"

namespace pmcached::server {
namespace {

using State = TextLine::State;

State state_of(const std::string& input) {
  return find_line(input).state;
}

}  // namespace

TEST_CASE("a line ends with LF, with or without CR in front") {
  const TextLine with = find_line("get a\r\nget b\r\n");
  CHECK(with.state == State::kComplete);
  CHECK(with.text == "get a");
  CHECK(with.size == 7);
  const TextLine without = find_line("get a\nget b\n");
  CHECK(without.text == "get a");
  CHECK(without.size == 6);
  CHECK(find_line("a\r\r\n").text == "a\r");
  CHECK(find_line("\r\n").text.empty());
  CHECK(find_line("\n").text.empty());
}

TEST_CASE("bytes known to hold no line feed are not searched again") {
  CHECK(find_line("get a\r\n", 5).text == "get a");
  CHECK(find_line("get a", 5).state == State::kUnfinished);
  CHECK(find_line("", 0).state == State::kUnfinished);
}

TEST_CASE("a line may stay unfinished for 2048 bytes") {
  CHECK(state_of(std::string(kMaxUnfinishedLine, 'x')) == State::kUnfinished);
  CHECK(state_of(std::string(kMaxUnfinishedLine + 1, 'x')) == State::kHopeless);
  CHECK(state_of(std::string(kMaxUnfinishedLine + 1, 'x') + "\n") == State::kComplete);
  CHECK(state_of(std::string(kMaxUnfinishedLine + 1, ' ')) == State::kHopeless);
}

TEST_CASE("a get or gets may stay unfinished for longer, another command may not") {
  const std::string keys(kMaxUnfinishedLine, 'x');
  CHECK(state_of("get " + keys) == State::kUnfinished);
  CHECK(state_of("gets " + keys) == State::kUnfinished);
  CHECK(state_of("gat " + keys) == State::kHopeless);
  CHECK(state_of("getx " + keys) == State::kHopeless);
  CHECK(state_of(std::string(kMaxLeadingSpaces, ' ') + "get " + keys) == State::kUnfinished);
  CHECK(state_of(std::string(kMaxLeadingSpaces + 1, ' ') + "get " + keys) == State::kHopeless);
  CHECK(state_of("get " + std::string(kMaxUnfinishedRetrieval, 'x')) == State::kHopeless);
}

TEST_CASE("words are separated by any number of spaces and by nothing else") {
  TokenCursor cursor("  a  b\tc   d ");
  CHECK(cursor.next() == "a");
  CHECK(cursor.rest() == "  b\tc   d ");
  CHECK(cursor.next() == "b\tc");
  CHECK(cursor.next() == "d");
  CHECK(cursor.next().empty());
  CHECK(cursor.next().empty());
}

}  // namespace pmcached::server
