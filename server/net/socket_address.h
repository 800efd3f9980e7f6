#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pmcached::server {

/// The address of one end of a socket.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  int family() const { return storage.ss_family; }
  /// The port of an IPv4 or IPv6 address, 0 for any other.
  uint16_t port() const;
  /// As `stats conns` shows it: "tcp:127.0.0.1:11211", "tcp6:[::1]:11211", "unix:/run/socket".
  std::string text() const;
};

/// The socket's own address and that of its peer. What the system does not tell is left empty.
SocketAddress local_address(int socket);
SocketAddress peer_address(int socket);

/// One entry of -l.
struct ListenSpec {
  std::string host;              ///< name or address; empty = all interfaces
  std::optional<uint16_t> port;  ///< absent = that of -p; 0 = one that is free
};

/// Reads one entry of -l: HOST, HOST:PORT, [IPV6], [IPV6]:PORT, a bare IPv6 address, or "*" for all
/// interfaces. Nothing if it is none of these.
std::optional<ListenSpec> parse_listen_spec(std::string_view text);

}  // namespace pmcached::server
