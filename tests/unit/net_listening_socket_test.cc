#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "server/net/listening_socket.h"

namespace pmcached::server {
namespace {

/// A folder of the test's own, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "pmcached-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

ListenSpec loopback() {
  return {.host = "127.0.0.1", .port = {}};
}

TEST_CASE("port 0 takes a free port") {
  std::vector<ListeningSocket> sockets;
  REQUIRE(ListeningSocket::bind_tcp(loopback(), 0, &sockets).ok());
  REQUIRE(sockets.size() == 1);
  CHECK(sockets[0].address().port() != 0);
}

TEST_CASE("a port that somebody listens on is refused by its number and the reason") {
  std::vector<ListeningSocket> first;
  REQUIRE(ListeningSocket::bind_tcp(loopback(), 0, &first).ok());
  REQUIRE(first[0].listen(1).ok());
  const uint16_t port = first[0].address().port();
  std::vector<ListeningSocket> second;
  const Status status = ListeningSocket::bind_tcp(loopback(), port, &second);
  REQUIRE_FALSE(status.ok());
  CHECK(status.message() == "failed to listen on 127.0.0.1, TCP port " + std::to_string(port) +
                                ": Address already in use");
}

TEST_CASE("the port of a listen entry counts more than the default") {
  std::vector<ListeningSocket> sockets;
  REQUIRE(ListeningSocket::bind_tcp({.host = "127.0.0.1", .port = 0}, 1, &sockets).ok());
  CHECK(sockets[0].address().port() > 1);
}

TEST_CASE("a UNIX socket has its mode and goes with its server") {
  const TemporaryFolder folder;
  const std::string path = folder.file("socket");
  {
    std::vector<ListeningSocket> sockets;
    REQUIRE(ListeningSocket::bind_unix(path, 0640, &sockets).ok());
    CHECK(sockets[0].address().text() == "unix:" + path);
    struct stat info {};
    REQUIRE(lstat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0640);
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a UNIX socket replaces one that is left over, and outlives the one it replaced") {
  const TemporaryFolder folder;
  const std::string path = folder.file("socket");
  std::vector<ListeningSocket> newer;
  {
    std::vector<ListeningSocket> older;
    REQUIRE(ListeningSocket::bind_unix(path, 0700, &older).ok());
    REQUIRE(ListeningSocket::bind_unix(path, 0700, &newer).ok());
  }
  CHECK(std::filesystem::exists(path));
}

TEST_CASE("a UNIX socket replaces nothing but sockets") {
  const TemporaryFolder folder;
  const std::string path = folder.file("precious");
  std::ofstream(path) << "data";
  std::vector<ListeningSocket> sockets;
  const Status status = ListeningSocket::bind_unix(path, 0700, &sockets);
  REQUIRE_FALSE(status.ok());
  CHECK_THAT(status.message(), Catch::Contains(path));
  CHECK(contents(path) == "data");
}

TEST_CASE("a path too long for a UNIX socket is refused") {
  std::vector<ListeningSocket> sockets;
  const Status status = ListeningSocket::bind_unix("/" + std::string(200, 'x'), 0700, &sockets);
  REQUIRE_FALSE(status.ok());
  CHECK_THAT(status.message(), Catch::Contains("longer than 107 bytes"));
}

TEST_CASE("the port file lists each TCP port") {
  const TemporaryFolder folder;
  std::vector<ListeningSocket> sockets;
  REQUIRE(ListeningSocket::bind_tcp(loopback(), 0, &sockets).ok());
  REQUIRE(ListeningSocket::bind_unix(folder.file("socket"), 0700, &sockets).ok());
  const std::string path = folder.file("ports");
  REQUIRE(write_port_file(path, list_ports(sockets)).ok());
  CHECK(contents(path) == "TCP INET: " + std::to_string(sockets[0].address().port()) + "\n");

  const Status status = write_port_file(folder.file("missing/ports"), "");
  REQUIRE_FALSE(status.ok());
  CHECK_THAT(status.message(), Catch::Contains("missing/ports"));
}

}  // namespace
}  // namespace pmcached::server
