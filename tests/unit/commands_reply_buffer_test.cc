#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "tests/support/randomness.h"
#include "tests/wire/conversation_fixture.h"

namespace pmcached::server {
namespace {

/// Bytes that stand outside the buffer, as values in the pool do.
std::string_view pool(size_t size) {
  static const std::string bytes(100'000, 'p');
  return std::string_view(bytes).substr(0, size);
}

}  // namespace

TEST_CASE("copied bytes and runs in the pool leave in the order they were appended") {
  ReplyBuffer replies;
  replies.append("one");
  replies.append_pinned(pool(5), engine::Pin());
  replies.append_pinned(pool(2), engine::Pin());
  replies.append("two");
  replies.append_pinned(pool(3), engine::Pin());
  CHECK(replies.size() == 16);
  CHECK(replies.copied_size() == 6);
  CHECK(replies.pinned_runs() == 3);
  CHECK(tests::drain(&replies) == "oneppppppptwoppp");
  CHECK(replies.empty());
  CHECK(replies.pinned_runs() == 0);
}

TEST_CASE("whatever is sent of the replies, the rest is what follows it") {
  const auto seed = tests::test_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    ReplyBuffer replies;
    std::string expected;
    std::string sent;
    for (int step = 0; step < 60; ++step) {
      const size_t size = random() % 3000;
      if (random() % 3 == 0) {
        replies.append_pinned(pool(size + 1), engine::Pin());
        expected += pool(size + 1);
      } else {
        const std::string bytes(size, static_cast<char>('a' + random() % 26));
        replies.append(bytes);
        expected += bytes;
      }
      std::array<iovec, 4> pieces{};
      const size_t count = replies.gather(std::span(pieces).first(2 + random() % 3));
      std::string front;
      for (size_t i = 0; i < count; ++i) {
        front.append(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
      }
      front.resize(front.empty() ? 0 : random() % (front.size() + 1));
      replies.consume(front.size());
      sent += front;
      REQUIRE(replies.size() == expected.size() - sent.size());
    }
    sent += tests::drain(&replies);
    REQUIRE(sent == expected);
  }
}

TEST_CASE("a gather into fewer entries than there are pieces takes the first ones") {
  ReplyBuffer replies;
  for (int i = 0; i < 3; ++i) {
    replies.append("abc");
    replies.append_pinned(pool(4), engine::Pin());
  }
  std::array<iovec, 3> pieces{};
  REQUIRE(replies.gather(pieces) == 2);
  CHECK(pieces[0].iov_len == 3);
  CHECK(pieces[1].iov_len == 4);
}

TEST_CASE("rewinding drops what was appended since, and nothing else") {
  ReplyBuffer replies;
  replies.append("kept");
  replies.append_pinned(pool(2), engine::Pin());
  replies.consume(1);
  const ReplyBuffer::Mark mark = replies.mark();
  replies.append(std::string(10'000, 'x'));
  replies.append_pinned(pool(7), engine::Pin());
  replies.append("y");
  replies.rewind(mark);
  CHECK(replies.size() == 5);
  replies.append("!");
  CHECK(tests::drain(&replies) == "eptpp!");
}

}  // namespace pmcached::server
