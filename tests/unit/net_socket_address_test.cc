#include <arpa/inet.h>
#include <netinet/in.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "server/net/socket_address.h"

namespace pmcached::server {
namespace {

TEST_CASE("an entry of -l is a host, with or without a port") {
  struct Case {
    const char* text;
    const char* host;
    std::optional<uint16_t> port;
  };
  const Case cases[] = {
      {"127.0.0.1", "127.0.0.1", {}},
      {"127.0.0.1:80", "127.0.0.1", 80},
      {"localhost:0", "localhost", 0},
      {"::1", "::1", {}},
      {"[::1]", "::1", {}},
      {"[fe80::1]:65535", "fe80::1", 65535},
      {"*", "", {}},
      {"*:11300", "", 11300},
  };
  for (const Case& good : cases) {
    CAPTURE(good.text);
    const auto spec = parse_listen_spec(good.text);
    REQUIRE(spec);
    CHECK(spec->host == good.host);
    CHECK(spec->port == good.port);
  }
}

TEST_CASE("an entry of -l that is none is refused") {
  for (const char* text : {"", ":80", "host:", "host:x", "host:65536", "host:-1", "[::1", "[::1]80",
                           "[::1]:", "[]:80"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_listen_spec(text));
  }
}

TEST_CASE("addresses read as in stats conns") {
  SocketAddress address;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(11211);
  inet_pton(AF_INET, "127.0.0.1", &v4.sin_addr);
  std::memcpy(&address.storage, &v4, sizeof(v4));
  address.length = sizeof(v4);
  CHECK(address.text() == "tcp:127.0.0.1:11211");
  CHECK(address.port() == 11211);

  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(80);
  v6.sin6_addr = in6addr_loopback;
  std::memcpy(&address.storage, &v6, sizeof(v6));
  address.length = sizeof(v6);
  CHECK(address.text() == "tcp6:[::1]:80");
  CHECK(address.port() == 80);

  CHECK(SocketAddress{}.port() == 0);
}

}  // namespace
}  // namespace pmcached::server
