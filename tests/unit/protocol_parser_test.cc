#include <catch2/catch.hpp>
#include <string>
#include <variant>

#include "server/protocol/text_parser.h"
#include "server/protocol/text_reply.h"

namespace pmcached::server {
namespace {

template <typename Request>
Request parse_as(std::string_view line) {
  const TextRequest request = parse_text_request(line);
  INFO(line);
  REQUIRE(std::holds_alternative<Request>(request));
  return std::get<Request>(request);
}

/// The reply a malformed line gets; empty under noreply.
std::string_view refusal(std::string_view line) {
  const auto request = parse_as<MalformedRequest>(line);
  return request.noreply ? std::string_view() : request.reply;
}

}  // namespace

TEST_CASE("a retrieval hands on its keys unchecked") {
  const auto get = parse_as<RetrievalRequest>("get a  b ");
  CHECK(get.keys == " a  b ");
  CHECK(!get.with_cas);
  CHECK(!get.touch);
  CHECK(parse_as<RetrievalRequest>("gets a").with_cas);
  CHECK(!parse_as<RetrievalRequest>("bget a").with_cas);
}

TEST_CASE("gat and gats take the first word as the new time") {
  const auto gat = parse_as<RetrievalRequest>("gat 100 a b");
  CHECK(gat.touch);
  CHECK(!gat.with_cas);
  CHECK(gat.exptime == 100);
  CHECK(gat.keys == " a b");
  const auto gats = parse_as<RetrievalRequest>("gats -1 a");
  CHECK(gats.with_cas);
  CHECK(gats.exptime == -1);
}

TEST_CASE("a store is read word by word") {
  const auto store = parse_as<StorageRequest>("cas key 4294967295 -5 2147483645 99 noreply");
  CHECK(store.command == StoreCommand::kCas);
  CHECK(store.key == "key");
  CHECK(store.client_flags == UINT32_MAX);
  CHECK(store.exptime == -5);
  CHECK(store.length == 2147483645);
  CHECK(store.cas == 99);
  CHECK(store.noreply);
  CHECK(parse_as<StorageRequest>("set a 0 0 0").command == StoreCommand::kSet);
  CHECK(parse_as<StorageRequest>("add a 0 0 0").command == StoreCommand::kAdd);
  CHECK(parse_as<StorageRequest>("replace a 0 0 0").command == StoreCommand::kReplace);
  CHECK(parse_as<StorageRequest>("append a 0 0 0").command == StoreCommand::kAppend);
  CHECK(parse_as<StorageRequest>("prepend a 0 0 0").command == StoreCommand::kPrepend);
}

TEST_CASE("only the exact last word noreply counts") {
  CHECK(parse_as<StorageRequest>("set a 0 0 1 noreply").noreply);
  CHECK(!parse_as<StorageRequest>("set a 0 0 1 NOREPLY").noreply);
  CHECK(!parse_as<StorageRequest>("set a 0 0 1 noreply1").noreply);
  CHECK(!parse_as<StorageRequest>("set noreply 0 0 1").noreply);
  CHECK(refusal("set a 0 0 x noreply").empty());
  CHECK(refusal("set a 0 0 1 noreply more") == kErrorReply);
}

TEST_CASE("arithmetic, delete and touch are read word by word") {
  const auto incr = parse_as<ArithmeticRequest>("incr n 18446744073709551615 noreply");
  CHECK(incr.key == "n");
  CHECK(incr.delta == UINT64_MAX);
  CHECK(incr.increment);
  CHECK(incr.noreply);
  CHECK(!parse_as<ArithmeticRequest>("decr n 1").increment);
  CHECK(parse_as<DeleteRequest>("delete a").key == "a");
  CHECK(parse_as<DeleteRequest>("delete a 0 noreply").noreply);
  CHECK(parse_as<DeleteRequest>("delete noreply").key == "noreply");
  CHECK(!parse_as<DeleteRequest>("delete noreply").noreply);
  CHECK(parse_as<TouchRequest>("touch a 7 noreply").exptime == 7);
}

TEST_CASE("flush_all keeps a bad delay for the one who knows whether flush_all is allowed") {
  CHECK(parse_as<FlushAllRequest>("flush_all").delay == 0);
  CHECK(parse_as<FlushAllRequest>("flush_all 10").delay == 10);
  CHECK(parse_as<FlushAllRequest>("flush_all noreply").noreply);
  CHECK(!parse_as<FlushAllRequest>("flush_all noreply").malformed);
  CHECK(parse_as<FlushAllRequest>("flush_all x").malformed);
  CHECK(parse_as<FlushAllRequest>("flush_all noreply noreply").malformed);
  CHECK(refusal("flush_all 1 2 3") == kErrorReply);
}

TEST_CASE("administration is read word by word") {
  CHECK(parse_as<VerbosityRequest>("verbosity 2").level == 2);
  CHECK(std::holds_alternative<VersionRequest>(parse_text_request("version now")));
  CHECK(std::holds_alternative<QuitRequest>(parse_text_request("quit")));
  CHECK(parse_as<StatsRequest>("stats").subcommand.empty());
  CHECK(parse_as<StatsRequest>("stats detail on").argument == "on");
  CHECK(parse_as<ShutdownRequest>("shutdown").mode == ShutdownRequest::Mode::kAtOnce);
  CHECK(parse_as<ShutdownRequest>("shutdown graceful").mode == ShutdownRequest::Mode::kGraceful);
  CHECK(parse_as<ShutdownRequest>("shutdown now").mode == ShutdownRequest::Mode::kUnknown);
}

TEST_CASE("HTTP is recognised behind unknown verbs") {
  CHECK(std::holds_alternative<HttpRequest>(parse_text_request("GET / HTTP/1.1")));
  CHECK(std::holds_alternative<HttpRequest>(parse_text_request("HTTP/1.1")));
  CHECK(refusal("stat / HTTP/1.1") == kErrorReply);
  CHECK(refusal("GET / http/1.1") == kErrorReply);
}

TEST_CASE("a line of nothing, and one ended by a NUL byte") {
  CHECK(refusal("") == kErrorReply);
  CHECK(refusal("   ") == kErrorReply);
  CHECK(refusal("\t") == kErrorReply);
  CHECK(refusal(std::string_view("\0get a", 6)) == kErrorReply);
  CHECK(parse_as<DeleteRequest>(std::string_view("delete a\0b", 10)).key == "a");
}

TEST_CASE("the longest key is accepted, a longer one refused") {
  const std::string longest(250, 'k');
  const std::string longer(251, 'k');
  CHECK(parse_as<DeleteRequest>("delete " + longest).key.size() == 250);
  CHECK(refusal("delete " + longer) == kBadFormatReply);
  CHECK(refusal("touch " + longer + " 0") == kBadFormatReply);
  CHECK(refusal("incr " + longer + " x") == kBadFormatReply);
  CHECK(refusal("set " + longer + " 0 0 1") == kBadFormatReply);
}

TEST_CASE("a value line holds the longest of everything") {
  char line[kMaxValueLine];
  const std::string key(250, 'k');
  char* const end = write_value_line(line, key, UINT64_MAX, UINT32_MAX, UINT64_MAX);
  CHECK(std::string(line, end) ==
        "VALUE " + key + " 18446744073709551615 4294967295 18446744073709551615\r\n");
  CHECK(std::string(line, write_value_line(line, "a", 0, 0, std::nullopt)) == "VALUE a 0 0\r\n");
}

}  // namespace pmcached::server
