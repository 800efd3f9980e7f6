#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

#include "server/commands/retrieval.h"
#include "server/protocol/limits.h"
#include "tests/support/randomness.h"
#include "tests/wire/conversation_fixture.h"
#include "tests/wire/dialogue.h"

namespace pmcached::tests {
namespace {

/// One request beyond the bound of pending replies, which is the longest statistics.
constexpr size_t kLargestSmallReply = size_t{256} << 10;

/// Speaks to a conversation as a client that sends anything at all, and checks what must hold
/// whatever it sends.
class AnyClient {
 public:
  explicit AnyClient(std::mt19937* random) : random_(*random) {}

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const size_t size = std::min<size_t>(bytes.size(), 1 + random_() % 4096);
      unused_ += bytes.substr(0, size);
      bytes.remove_prefix(size);
      take_turns();
      if (fixture_.conversation().should_close()) {
        fixture_.reconnect();
        unused_.clear();
      }
    }
  }

  /// The server still answers a new client.
  void check_alive() {
    fixture_.reconnect();
    CHECK(fixture_.send("version\r\n") == "VERSION 1.2.3\r\n");
    unused_.clear();
  }

 private:
  void take_turns() {
    server::Conversation& conversation = fixture_.conversation();
    server::ReplyBuffer& replies = fixture_.replies();
    do {
      const int requests = 1 + static_cast<int>(random_() % 40);
      const size_t used = conversation.consume(unused_, &replies, requests);
      REQUIRE(used <= unused_.size());
      unused_.erase(0, used);
      REQUIRE(replies.copied_size() < server::kMaxPendingCopied + kLargestSmallReply);
      REQUIRE(unused_.size() <= kMostUnused);
      // A client that reads now and then, but never waits for ever.
      if (conversation.wants_more() || random_() % 4 == 0) {
        drain(&replies);
      }
    } while (conversation.wants_more() && !conversation.should_close());
  }

  /// A line that may still be completed and what one read brings.
  static constexpr size_t kMostUnused = server::kMaxUnfinishedRetrieval + 4096;

  std::mt19937& random_;
  ConversationFixture fixture_{{.settings = {.shutdown_command = true}, .engine = {}}};
  std::string unused_;
};

std::string random_bytes(size_t size, std::mt19937* random) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>((*random)());
  }
  return bytes;
}

/// Words of the protocol, well and ill chosen, in random order.
std::string random_words(size_t count, std::mt19937* random) {
  static const std::vector<std::string> words = {"get",
                                                 "gets",
                                                 "gat",
                                                 "gats",
                                                 "set",
                                                 "add",
                                                 "replace",
                                                 "append",
                                                 "prepend",
                                                 "cas",
                                                 "incr",
                                                 "decr",
                                                 "touch",
                                                 "delete",
                                                 "a",
                                                 "b",
                                                 "0",
                                                 "1",
                                                 "-1",
                                                 "3",
                                                 "10",
                                                 "100",
                                                 "99999",
                                                 "2147483645",
                                                 "noreply",
                                                 "\r\n",
                                                 "\r\n",
                                                 "\r\n",
                                                 "\n",
                                                 "\r",
                                                 "x\r\n",
                                                 "abc\r\n",
                                                 "stats",
                                                 "settings",
                                                 "items",
                                                 "slabs",
                                                 "flush_all",
                                                 "version",
                                                 "detail",
                                                 "on",
                                                 "dump",
                                                 "reset",
                                                 "sizes",
                                                 "verbosity",
                                                 "  ",
                                                 "\t",
                                                 "shutdown",
                                                 "graceful",
                                                 "4294967296",
                                                 "18446744073709551615",
                                                 std::string(250, 'k'),
                                                 std::string(251, 'k'),
                                                 std::string("\0", 1)};
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += words[(*random)() % words.size()];
    text += (*random)() % 8 == 0 ? "" : " ";
  }
  return text;
}

void mutate(std::string* bytes, std::mt19937* random) {
  for (size_t i = 0; i < 1 + bytes->size() / 50 && !bytes->empty(); ++i) {
    const size_t at = (*random)() % bytes->size();
    switch ((*random)() % 4) {
      case 0:
        (*bytes)[at] = static_cast<char>((*random)());
        break;
      case 1:
        bytes->erase(at, 1 + (*random)() % 8);
        break;
      case 2:
        bytes->insert(at, bytes->substr((*random)() % bytes->size(), (*random)() % 40));
        break;
      default:
        bytes->insert(at, random_bytes(1 + (*random)() % 4, random));
        break;
    }
  }
}

}  // namespace

TEST_CASE("random bytes do no harm") {
  const auto seed = test_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  AnyClient client(&random);
  for (int round = 0; round < rounds(200); ++round) {
    client.send(random_bytes(random() % 20'000, &random));
  }
  client.check_alive();
}

TEST_CASE("random words of the protocol do no harm") {
  const auto seed = test_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  AnyClient client(&random);
  for (int round = 0; round < rounds(2'000); ++round) {
    client.send(random_words(random() % 200, &random));
  }
  client.check_alive();
}

TEST_CASE("mutated dialogues do no harm") {
  const auto seed = test_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto dialogues =
      read_dialogues(std::filesystem::path(PMCACHED_TEST_DATA_DIR) / "wire" / "cases");
  REQUIRE(!dialogues.empty());
  AnyClient client(&random);
  for (int round = 0; round < 3; ++round) {
    for (const Dialogue& dialogue : dialogues) {
      std::string requests;
      for (const Step& step : dialogue.steps) {
        if (step.kind == Step::Kind::kSend && step.text.find("{$") == std::string::npos) {
          requests += expand_bytes(step.text, {});
        }
      }
      requests.resize(std::min<size_t>(requests.size(), 20'000));
      mutate(&requests, &random);
      client.send(requests);
    }
  }
  client.check_alive();
}

TEST_CASE("a client that pipelines gets and reads nothing is made to wait") {
  ConversationFixture fixture;
  REQUIRE(fixture.send("set a 0 0 10000\r\n" + std::string(10'000, 'a') + "\r\n") == "STORED\r\n");
  REQUIRE(fixture.send("set b 0 0 500000\r\n" + std::string(500'000, 'b') + "\r\n") ==
          "STORED\r\n");
  const std::string key = GENERATE(as<std::string>(), "a", "b");
  std::string requests;
  for (int i = 0; i < 10'000; ++i) {
    requests += "get " + key + "\r\n";
  }
  server::ReplyBuffer& replies = fixture.replies();
  const size_t used = fixture.conversation().consume(requests, &replies, INT_MAX);
  CHECK(used < requests.size());
  CHECK(fixture.conversation().wants_more());
  CHECK(replies.copied_size() < server::kMaxPendingCopied + 20'000);
  CHECK(replies.size() < server::kMaxPendingPinned + 600'000);
  // Nothing more is executed before replies have left.
  const size_t pending = replies.size();
  CHECK(fixture.conversation().consume(std::string_view(requests).substr(used), &replies,
                                       INT_MAX) == 0);
  CHECK(replies.size() == pending);
  CHECK(fixture.conversation().wants_more());
}

TEST_CASE("one get of very many keys keeps its copied bytes bounded") {
  ConversationFixture fixture;
  REQUIRE(fixture.send("set a 0 0 10000\r\n" + std::string(10'000, 'a') + "\r\n") == "STORED\r\n");
  std::string request = "get";
  for (int i = 0; i < 5'000; ++i) {
    request += " a";
  }
  request += "\r\n";
  server::ReplyBuffer& replies = fixture.replies();
  CHECK(fixture.conversation().consume(request, &replies, INT_MAX) == request.size());
  CHECK(replies.size() > size_t{5'000} * 10'000);
  CHECK(replies.copied_size() < server::kMaxPendingCopied + size_t{5'000} * 30);
  const std::string value = "VALUE a 0 10000\r\n" + std::string(10'000, 'a') + "\r\n";
  const std::string received = drain(&replies);
  REQUIRE(received.size() == 5'000 * value.size() + 5);
  for (size_t i = 0; i < 5'000; ++i) {
    if (std::string_view(received).substr(i * value.size(), value.size()) != value) {
      FAIL("value " << i << " is not as stored");
    }
  }
}

TEST_CASE("a get without end is given up") {
  ConversationFixture fixture;
  const std::string part = std::string(1000, 'x') + " ";
  fixture.send("get ");
  size_t sent = 4;
  while (!fixture.conversation().should_close() && sent < 4 * server::kMaxUnfinishedRetrieval) {
    fixture.send(part);
    sent += part.size();
  }
  CHECK(fixture.conversation().should_close());
  CHECK(sent < server::kMaxUnfinishedRetrieval + 2000);
}

}  // namespace pmcached::tests
