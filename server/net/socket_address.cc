#include "server/net/socket_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>

namespace pmcached::server {
namespace {

/// The address as the structure of its family, which `storage` is by its own declaration.
template <typename Family>
Family as(const SocketAddress& address) {
  static_assert(sizeof(Family) <= sizeof(address.storage));
  Family result;
  std::memcpy(&result, &address.storage, sizeof(result));
  return result;
}

std::string unix_path(const SocketAddress& address) {
  const auto unix_address = as<sockaddr_un>(address);
  const size_t header = offsetof(sockaddr_un, sun_path);
  const size_t room = address.length > header ? address.length - header : 0;
  return {unix_address.sun_path, strnlen(unix_address.sun_path, room)};
}

std::optional<uint16_t> parse_port(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return port;
}

}  // namespace

uint16_t SocketAddress::port() const {
  switch (family()) {
    case AF_INET:
      return ntohs(as<sockaddr_in>(*this).sin_port);
    case AF_INET6:
      return ntohs(as<sockaddr_in6>(*this).sin6_port);
    default:
      return 0;
  }
}

std::string SocketAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> host{};
  switch (family()) {
    case AF_INET: {
      const auto address = as<sockaddr_in>(*this);
      inet_ntop(AF_INET, &address.sin_addr, host.data(), host.size());
      return fmt::format("tcp:{}:{}", host.data(), port());
    }
    case AF_INET6: {
      const auto address = as<sockaddr_in6>(*this);
      inet_ntop(AF_INET6, &address.sin6_addr, host.data(), host.size());
      return fmt::format("tcp6:[{}]:{}", host.data(), port());
    }
    case AF_UNIX:
      return "unix:" + unix_path(*this);
    default:
      return "unknown";
  }
}

SocketAddress local_address(int socket) {
  SocketAddress address;
  address.length = sizeof(address.storage);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) {
    return {};
  }
  return address;
}

SocketAddress peer_address(int socket) {
  SocketAddress address;
  address.length = sizeof(address.storage);
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) {
    return {};
  }
  return address;
}

std::optional<ListenSpec> parse_listen_spec(std::string_view text) {
  std::string_view host = text;
  std::string_view port_part;
  if (text.starts_with('[')) {
    const size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) {
      return std::nullopt;
    }
    host = text.substr(1, bracket - 1);
    port_part = text.substr(bracket + 1);
  } else if (const size_t colon = text.find(':');
             colon != std::string_view::npos &&
             text.find(':', colon + 1) == std::string_view::npos) {
    host = text.substr(0, colon);
    port_part = text.substr(colon);
  }

  ListenSpec spec;
  if (!port_part.empty()) {
    spec.port = port_part.starts_with(':') ? parse_port(port_part.substr(1)) : std::nullopt;
    if (!spec.port) {
      return std::nullopt;
    }
  }
  if (host.empty()) {
    return std::nullopt;
  }
  if (host != "*") {
    spec.host = host;
  }
  return spec;
}

}  // namespace pmcached::server
