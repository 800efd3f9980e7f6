#include <catch2/catch.hpp>
#include <string>

#include "server/commands/conversation.h"
#include "server/commands/retrieval.h"
#include "tests/wire/conversation_fixture.h"

namespace pmcached::tests {
namespace {

std::string set_request(const std::string& key, const std::string& value) {
  return "set " + key + " 0 0 " + std::to_string(value.size()) + "\r\n" + value + "\r\n";
}

std::string value_reply(const std::string& key, const std::string& value) {
  return "VALUE " + key + " 0 " + std::to_string(value.size()) + "\r\n" + value + "\r\n";
}

}  // namespace

TEST_CASE("no more requests are executed in a turn than allowed") {
  ConversationFixture fixture;
  const std::string requests = "version\r\nversion\r\nset a 0 0 1\r\n1\r\nget a\r\nget a";
  server::Conversation& conversation = fixture.conversation();
  size_t used = conversation.consume(requests, &fixture.replies(), 2);
  CHECK(used == 18);
  CHECK(conversation.wants_more());
  CHECK(fixture.counters.yields.get() == 1);
  used += conversation.consume(std::string_view(requests).substr(used), &fixture.replies(), 2);
  CHECK(requests.substr(used) == "get a");
  CHECK(!conversation.wants_more());
  CHECK(fixture.counters.yields.get() == 1);
  CHECK(drain(&fixture.replies()) ==
        "VERSION 1.2.3\r\nVERSION 1.2.3\r\nSTORED\r\nVALUE a 0 1\r\n1\r\nEND\r\n");
}

TEST_CASE("a data block is used as it arrives and tells how much is to come") {
  ConversationFixture fixture;
  const std::string value(100'000, 'v');
  CHECK(fixture.conversation().expected_input() == 0);
  CHECK(fixture.send("set a 0 0 100000\r\n").empty());
  CHECK(fixture.conversation().expected_input() == 100'002);
  CHECK(fixture.send(value.substr(0, 60'000)).empty());
  CHECK(fixture.unused().empty());
  CHECK(fixture.conversation().expected_input() == 40'002);
  CHECK(fixture.send(value.substr(60'000) + "\r").empty());
  CHECK(fixture.conversation().expected_input() == 1);
  CHECK(fixture.send("\n") == "STORED\r\n");
  CHECK(fixture.conversation().expected_input() == 0);
  CHECK(fixture.send("get a\r\n") == value_reply("a", value) + "END\r\n");
}

TEST_CASE("the value of a client that goes away in the middle is not stored") {
  ConversationFixture fixture;
  CHECK(fixture.send(set_request("a", "old")) == "STORED\r\n");
  fixture.send("set a 0 0 500000\r\n" + std::string(300'000, 'x'));
  fixture.reconnect();
  CHECK(fixture.send("get a\r\n") == value_reply("a", "old") + "END\r\n");
}

TEST_CASE("a pinned reply survives its item being overwritten, deleted and evicted") {
  ConversationFixture fixture;
  const std::string value = std::string(200'000, 'p') + std::string(100'000, 'q');
  REQUIRE(fixture.send(set_request("a", value)) == "STORED\r\n");
  const std::string requests =
      "get a\r\n" + set_request("a", std::string(300'000, 'n')) + "get a\r\ndelete a\r\nget a\r\n";
  server::ReplyBuffer& replies = fixture.replies();
  REQUIRE(fixture.conversation().consume(requests, &replies, 100) == requests.size());
  CHECK(replies.copied_size() < 1000);

  // Twice the cache's size, so that everything that can be reused is.
  for (int i = 0; i < 640; ++i) {
    REQUIRE(fixture.cache().set("k" + std::to_string(i), std::string(200'000, 'z')) ==
            engine::Outcome::kStored);
  }
  CHECK(drain(&replies) == value_reply("a", value) + "END\r\nSTORED\r\n" +
                               value_reply("a", std::string(300'000, 'n')) +
                               "END\r\nDELETED\r\nEND\r\n");
}

TEST_CASE("without eviction a full cache refuses a store, and a refused set is a delete") {
  ConversationFixture::Config config;
  config.engine.evict_to_free = false;
  ConversationFixture fixture(config);
  const std::string value(100'000, 'v');
  std::string reply;
  int stored = 0;
  for (reply = "STORED\r\n"; reply == "STORED\r\n"; ++stored) {
    REQUIRE(stored < 1000);
    reply = fixture.send(set_request("k" + std::to_string(stored), value));
  }
  CHECK(reply == "SERVER_ERROR out of memory storing object\r\n");
  CHECK(stored > 300);
  CHECK(fixture.send("get k0\r\n") == value_reply("k0", value) + "END\r\n");
  CHECK(fixture.send(set_request("k0", value)) == "SERVER_ERROR out of memory storing object\r\n");
  CHECK(fixture.send("get k0\r\n") == "END\r\n");
  CHECK(fixture.send("set k1 0 0 100000 noreply\r\n" + value + "\r\n").empty());
}

TEST_CASE("shutdown asks the process to stop and disconnects") {
  ConversationFixture::Config config;
  config.settings.shutdown_command = true;
  ConversationFixture fixture(config);
  CHECK(fixture.send("shutdown foo\r\n") == "CLIENT_ERROR invalid shutdown mode\r\n");
  CHECK(fixture.shutdowns.empty());
  CHECK(fixture.send("version\r\nshutdown graceful\r\nversion\r\n") == "VERSION 1.2.3\r\n");
  CHECK(fixture.conversation().should_close());
  CHECK(fixture.shutdowns == std::vector<bool>{true});
  fixture.reconnect();
  fixture.send("shutdown\r\n");
  CHECK(fixture.shutdowns == std::vector<bool>{true, false});
}

TEST_CASE("verbosity is handed on, at most 2") {
  ConversationFixture fixture;
  CHECK(fixture.send("verbosity 1\r\n") == "OK\r\n");
  CHECK(fixture.verbosity == 1);
  CHECK(fixture.send("verbosity 4294967295 noreply\r\n").empty());
  CHECK(fixture.verbosity == 2);
  CHECK(fixture.send("stats settings\r\n").find("STAT verbosity 2\r\n") != std::string::npos);
}

}  // namespace pmcached::tests
