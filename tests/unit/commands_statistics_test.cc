#include <catch2/catch.hpp>
#include <string>

#include "tests/wire/conversation_fixture.h"

namespace pmcached::tests {
namespace {

bool has_line(const std::string& reply, const std::string& line) {
  return reply.find(line + "\r\n") != std::string::npos;
}

}  // namespace

TEST_CASE("stats tells what the process counts of its connections") {
  ConversationFixture fixture;
  fixture.totals = {.current = 3,
                    .total = 9,
                    .rejected = 2,
                    .structures = 4,
                    .bytes_read = 1234,
                    .bytes_written = 5678,
                    .yields = 6,
                    .accepting = false};
  const std::string reply = fixture.send("stats\r\n");
  for (const char* line :
       {"STAT pid 4711", "STAT version 1.2.3", "STAT libevent 2.1.12-stable",
        "STAT curr_connections 3", "STAT total_connections 9", "STAT rejected_connections 2",
        "STAT connection_structures 4", "STAT bytes_read 1234", "STAT bytes_written 5678",
        "STAT conn_yields 6", "STAT accepting_conns 0", "STAT threads 4", "STAT uptime 0"}) {
    INFO(line);
    CHECK(has_line(reply, line));
  }
}

TEST_CASE("stats tells the time since the start") {
  ConversationFixture fixture;
  fixture.cache().advance(100);
  const std::string reply = fixture.send("stats\r\n");
  CHECK(has_line(reply, "STAT uptime 100"));
  CHECK(has_line(reply, "STAT time 1700000100"));
}

TEST_CASE("stats reset zeroes counters of the cache and of the connections, not items") {
  ConversationFixture fixture;
  fixture.send("set a 0 0 1\r\n1\r\nget a b\r\n");
  std::string reply = fixture.send("stats\r\n");
  CHECK(has_line(reply, "STAT get_hits 1"));
  CHECK(has_line(reply, "STAT curr_items 1"));
  CHECK(fixture.send("stats reset\r\n") == "RESET\r\n");
  CHECK(fixture.connection_resets == 1);
  reply = fixture.send("stats\r\n");
  CHECK(has_line(reply, "STAT get_hits 0"));
  CHECK(has_line(reply, "STAT get_misses 0"));
  CHECK(has_line(reply, "STAT cmd_set 0"));
  CHECK(has_line(reply, "STAT curr_items 1"));
}

TEST_CASE("stats conns lists listeners and clients as memcached does") {
  ConversationFixture fixture;
  fixture.connections = {{.fd = 5,
                          .address = "tcp:0.0.0.0:11211",
                          .listen_address = "",
                          .state = "conn_listening",
                          .seconds_since_last_command = 7},
                         {.fd = 9,
                          .address = "tcp:127.0.0.1:40000",
                          .listen_address = "tcp:127.0.0.1:11211",
                          .state = "conn_read",
                          .seconds_since_last_command = 0}};
  CHECK(fixture.send("stats conns\r\n") ==
        "STAT 5:addr tcp:0.0.0.0:11211\r\n"
        "STAT 5:state conn_listening\r\n"
        "STAT 5:secs_since_last_cmd 7\r\n"
        "STAT 9:addr tcp:127.0.0.1:40000\r\n"
        "STAT 9:listen_addr tcp:127.0.0.1:11211\r\n"
        "STAT 9:state conn_read\r\n"
        "STAT 9:secs_since_last_cmd 0\r\n"
        "END\r\n");
}

TEST_CASE("stats slabs tells of the classes that have slabs, numbered from 1") {
  ConversationFixture fixture;
  CHECK(fixture.send("stats slabs\r\n") ==
        "STAT active_slabs 0\r\nSTAT total_malloced 0\r\nEND\r\n");
  fixture.send("set a 0 0 1\r\n1\r\nget a\r\n");
  const std::string reply = fixture.send("stats slabs\r\n");
  CHECK(reply.starts_with("STAT 1:chunk_size "));
  for (const char* line :
       {"STAT 1:total_pages 1", "STAT 1:used_chunks 1", "STAT 1:get_hits 1", "STAT 1:cmd_set 1",
        "STAT active_slabs 1", "STAT total_malloced 1048576"}) {
    INFO(line);
    CHECK(has_line(reply, line));
  }
}

TEST_CASE("stats settings shows what the server was started with") {
  ConversationFixture::Config config;
  config.settings.memory_file = "/mnt/pmem0/pool";
  config.settings.unix_socket_mask = 0770;
  config.settings.evictions = false;
  config.settings.survives_power_loss = true;
  config.settings.last_run = "crash";
  ConversationFixture fixture(config);
  const std::string reply = fixture.send("stats settings\r\n");
  for (const char* line :
       {"STAT memory_file /mnt/pmem0/pool", "STAT umask 770", "STAT evictions off",
        "STAT survives_power_loss yes", "STAT last_run crash", "STAT growth_factor 1.25",
        "STAT stat_key_prefix :", "STAT inter NULL", "STAT detail_enabled no"}) {
    INFO(line);
    CHECK(has_line(reply, line));
  }
}

}  // namespace pmcached::tests
