#include "server/net/listening_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

namespace pmcached::server {
namespace {

std::string reason(int error) {
  return std::generic_category().message(error);
}

struct AddressListDeleter {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, AddressListDeleter>;

std::string describe(const ListenSpec& spec, uint16_t port) {
  return spec.host.empty() ? fmt::format("TCP port {}", port)
                           : fmt::format("{}, TCP port {}", spec.host, port);
}

Status resolve(const ListenSpec& spec, uint16_t port, AddressList* list) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(spec.host.empty() ? nullptr : spec.host.c_str(),
                                std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    return {Status::Code::kNotFound,
            fmt::format("failed to listen on {}: {}", describe(spec, port),
                        error == EAI_SYSTEM ? reason(errno) : gai_strerror(error))};
  }
  list->reset(found);
  return {};
}

/// Accepted sockets inherit these. A lost client is noticed by keep-alive; replies leave at once.
void set_tcp_options(int socket, int family) {
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (family == AF_INET6) {
    setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  }
}

/// Errors that mean "this machine has no such kind of address", which a name may resolve to anyway.
bool is_unusable_address(int error) {
  return error == EAFNOSUPPORT || error == EADDRNOTAVAIL || error == EPROTONOSUPPORT;
}

}  // namespace

ListeningSocket::ListeningSocket(pmem::FileDescriptor socket)
    : socket_(std::move(socket)), address_(local_address(socket_.get())) {}

ListeningSocket::~ListeningSocket() {
  struct stat now {};
  if (socket_.valid() && file_ && lstat(file_->path.c_str(), &now) == 0 &&
      now.st_dev == file_->device && now.st_ino == file_->inode) {
    unlink(file_->path.c_str());
  }
}

Status ListeningSocket::bind_tcp(const ListenSpec& spec, uint16_t default_port,
                                 std::vector<ListeningSocket>* sockets) {
  const uint16_t port = spec.port.value_or(default_port);
  AddressList list;
  if (Status status = resolve(spec, port, &list); !status.ok()) {
    return status;
  }
  int last_error = EADDRNOTAVAIL;
  bool bound = false;
  for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
    pmem::FileDescriptor socket(::socket(
        entry->ai_family, entry->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, entry->ai_protocol));
    if (socket.valid()) {
      set_tcp_options(socket.get(), entry->ai_family);
    }
    if (socket.valid() && bind(socket.get(), entry->ai_addr, entry->ai_addrlen) == 0) {
      sockets->push_back(ListeningSocket(std::move(socket)));
      bound = true;
      continue;
    }
    last_error = errno;
    if (!is_unusable_address(last_error)) {
      bound = false;
      break;
    }
  }
  if (!bound) {
    return {Status::Code::kIo,
            fmt::format("failed to listen on {}: {}", describe(spec, port), reason(last_error))};
  }
  return {};
}

Status ListeningSocket::bind_unix(const std::string& path, mode_t mode,
                                  std::vector<ListeningSocket>* sockets) {
  const auto failure = [&path](const std::string& why) {
    return Status(Status::Code::kIo,
                  fmt::format("failed to listen on UNIX socket {}: {}", path, why));
  };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return failure(fmt::format("the path is longer than {} bytes", sizeof(address.sun_path) - 1));
  }
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);

  struct stat old {};
  if (lstat(path.c_str(), &old) == 0) {
    if (!S_ISSOCK(old.st_mode)) {
      return failure("something that is no socket is there");
    }
    unlink(path.c_str());
  }
  pmem::FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.valid()) {
    return failure(reason(errno));
  }
  // The mode must hold from the file's first moment, so it goes through the umask.
  const mode_t old_mask = umask(~mode & 0777U);
  const int error =
      bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 ? 0 : errno;
  umask(old_mask);
  struct stat made {};
  if (error != 0 || lstat(path.c_str(), &made) != 0) {
    return failure(reason(error != 0 ? error : errno));
  }
  ListeningSocket& result = sockets->emplace_back(ListeningSocket(std::move(socket)));
  result.file_ = UnixFile{path, made.st_dev, made.st_ino};
  return {};
}

Status ListeningSocket::listen(int backlog) {
  if (::listen(socket_.get(), backlog) != 0) {
    return {Status::Code::kIo,
            fmt::format("failed to listen on {}: {}", address_.text(), reason(errno))};
  }
  return {};
}

std::string describe_addresses(std::span<const ListeningSocket> sockets) {
  std::string text;
  for (const ListeningSocket& socket : sockets) {
    text += (text.empty() ? "" : ", ") + socket.address().text();
  }
  return text;
}

std::string list_ports(std::span<const ListeningSocket> sockets) {
  std::string text;
  for (const ListeningSocket& socket : sockets) {
    const SocketAddress& address = socket.address();
    if (address.family() == AF_INET || address.family() == AF_INET6) {
      text += fmt::format("TCP {}: {}\n", address.family() == AF_INET ? "INET" : "INET6",
                          address.port());
    }
  }
  return text;
}

Status write_port_file(const std::string& path, const std::string& ports) {
  const std::string temporary = path + ".lck";
  const pmem::FileDescriptor file(
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid() ||
      write(file.get(), ports.data(), ports.size()) != static_cast<ssize_t>(ports.size()) ||
      rename(temporary.c_str(), path.c_str()) != 0) {
    return {Status::Code::kIo, fmt::format("cannot write the port file {}: {}; it is named by "
                                           "MEMCACHED_PORT_FILENAME",
                                           path, reason(errno))};
  }
  return {};
}

}  // namespace pmcached::server
