#include <sys/socket.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "server/commands/server_context.h"
#include "server/net/connection.h"
#include "tests/support/cache_fixture.h"

namespace pmcached::server {
namespace {

using Wait = Connection::Wait;

/// A connection with its client at the other end of a socket pair.
class ConnectionFixture {
 public:
  explicit ConnectionFixture(int requests_per_event = 20)
      : settings_{.requests_per_event = requests_per_event},
        cache_({.persistent = false, .options = {}}),
        context_{
            .cache = cache_.cache(),
            .settings = settings_,
            .version = "test",
            .libevent_version = "test",
            .pid = 1,
            .request_shutdown = [](bool) {},
            .set_verbosity = [](int) {},
            .connection_totals = [] { return ConnectionTotals{}; },
            .reset_connection_counters = [] {},
            .visit_connections = [](const auto&) {},
        },
        worker_{.session = cache_.session(), .counters = counters} {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
    client_ = pmem::FileDescriptor(ends[0]);
    connection_.emplace(pmem::FileDescriptor(ends[1]), context_, worker_, buffers);
  }

  Connection& connection() { return *connection_; }

  /// Sends as much as the socket takes; returns how much that was.
  size_t send(std::string_view bytes) {
    const ssize_t sent = ::send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return sent < 0 ? 0 : static_cast<size_t>(sent);
  }
  /// What has arrived.
  std::string receive() {
    std::string received;
    std::array<char, 65536> piece{};
    ssize_t size = 0;
    while ((size = recv(client_.get(), piece.data(), piece.size(), 0)) > 0) {
      received.append(piece.data(), static_cast<size_t>(size));
    }
    return received;
  }
  void hang_up() { client_ = {}; }

  ReadBufferPool buffers;
  ConnectionCounters counters;

 private:
  ServerSettings settings_;
  tests::CacheFixture cache_;
  ServerContext context_;
  WorkerContext worker_;
  pmem::FileDescriptor client_;
  std::optional<Connection> connection_;
};

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) {
    result += text;
  }
  return result;
}

TEST_CASE("a connection answers and waits for more, holding no buffer") {
  ConnectionFixture fixture;
  fixture.send("set a 0 0 1\r\nx\r\nget a\r\n");
  CHECK(fixture.connection().take_turn() == Wait::kInput);
  CHECK(fixture.receive() == "STORED\r\nVALUE a 0 1\r\nx\r\nEND\r\n");
  CHECK(fixture.buffers.blocks() == 0);
  CHECK(fixture.counters.bytes_read.get() == 23);
  CHECK(fixture.counters.bytes_written.get() == 8 + 21);
}

TEST_CASE("a turn without input changes nothing") {
  ConnectionFixture fixture;
  CHECK(fixture.connection().take_turn() == Wait::kInput);
  CHECK(fixture.buffers.blocks() == 0);
}

TEST_CASE("an unfinished request waits for its rest") {
  ConnectionFixture fixture;
  fixture.send("get ");
  CHECK(fixture.connection().take_turn() == Wait::kInput);
  CHECK(fixture.receive().empty());
  CHECK(fixture.buffers.blocks() == 1);
  fixture.send("a\r\n");
  CHECK(fixture.connection().take_turn() == Wait::kInput);
  CHECK(fixture.receive() == "END\r\n");
}

TEST_CASE("more requests than one turn executes are executed in several") {
  ConnectionFixture fixture(5);
  fixture.send(repeated("get a\r\n", 12));
  CHECK(fixture.connection().take_turn() == Wait::kTurn);
  CHECK(fixture.connection().take_turn() == Wait::kTurn);
  CHECK(fixture.connection().take_turn() == Wait::kInput);
  CHECK(fixture.receive() == repeated("END\r\n", 12));
  CHECK(fixture.counters.yields.get() == 2);
}

TEST_CASE("nothing more is read from a client that does not read its replies") {
  ConnectionFixture fixture;
  const std::string value(size_t{500} << 10, 'v');
  const std::string store = "set big 0 0 " + std::to_string(value.size()) + "\r\n" + value + "\r\n";
  std::string stored;
  for (size_t sent = 0; stored.empty();) {
    sent += fixture.send(std::string_view(store).substr(sent));
    REQUIRE(fixture.connection().take_turn() == Wait::kInput);
    stored = fixture.receive();
  }
  REQUIRE(stored == "STORED\r\n");

  const int requests = 2000;
  REQUIRE(fixture.send(repeated("get big\r\n", requests)) == size_t{9} * requests);
  Wait wait = Wait::kInput;
  for (int turns = 0; turns < 100 && wait != Wait::kOutput; ++turns) {
    wait = fixture.connection().take_turn();
  }
  REQUIRE(wait == Wait::kOutput);
  const uint64_t read_until_blocked = fixture.counters.bytes_read.get();
  for (int turns = 0; turns < 10; ++turns) {
    CHECK(fixture.connection().take_turn() == Wait::kOutput);
  }
  CHECK(fixture.counters.bytes_read.get() == read_until_blocked);

  const std::string reply =
      "VALUE big 0 " + std::to_string(value.size()) + "\r\n" + value + "\r\nEND\r\n";
  uint64_t received = 0;
  while (received < reply.size() * requests) {
    const std::string piece = fixture.receive();
    // Every piece must continue where the reply before it ended.
    const uint64_t offset = received % reply.size();
    const size_t checked = std::min<size_t>(piece.size(), reply.size() - offset);
    REQUIRE(piece.compare(0, checked, reply, offset, checked) == 0);
    received += piece.size();
    fixture.connection().take_turn();
  }
  CHECK(received == reply.size() * requests);
  CHECK(fixture.connection().wait() == Wait::kInput);
}

TEST_CASE("quit closes once the replies before it have been sent") {
  ConnectionFixture fixture;
  fixture.send("get a\r\nquit\r\nget b\r\n");
  CHECK(fixture.connection().take_turn() == Wait::kClosed);
  CHECK(fixture.receive() == "END\r\n");
}

TEST_CASE("a client that hangs up is closed") {
  ConnectionFixture fixture;
  fixture.send("set a 0 0 10\r\nhalf");
  CHECK(fixture.connection().take_turn() == Wait::kInput);
  fixture.hang_up();
  CHECK(fixture.connection().take_turn() == Wait::kClosed);
}

TEST_CASE("a line without an end closes the connection and frees its memory") {
  ConnectionFixture fixture;
  const std::string endless(size_t{64} << 10, 'x');
  Wait wait = Wait::kInput;
  for (int turns = 0; turns < 200 && wait != Wait::kClosed; ++turns) {
    fixture.send(endless);
    wait = fixture.connection().take_turn();
  }
  CHECK(wait == Wait::kClosed);
}

TEST_CASE("stats conns tells what a connection is waiting for") {
  ConnectionFixture fixture;
  CHECK(fixture.connection().info().state == "conn_read");
  fixture.send("set a 0 0 10\r\nhalf");
  fixture.connection().take_turn();
  CHECK(fixture.connection().info().state == "conn_nread");
}

}  // namespace
}  // namespace pmcached::server
