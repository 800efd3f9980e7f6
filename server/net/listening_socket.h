#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pmem/file_descriptor.h"
#include "pmem/status.h"
#include "server/net/socket_address.h"

namespace pmcached::server {

/// A socket that clients connect to.
///
/// Purpose: taking an address (bind) and opening it to clients (listen) are apart, so that a taken
/// port is noticed before minutes of recovery, and no client waits for their end.
/// Thread safety: like a value.
/// Ownership: owns the descriptor and, for a UNIX socket, the file, which it removes at the end
/// unless another server has replaced it meanwhile.
class ListeningSocket {
 public:
  /// Takes a TCP address for each that `spec` resolves to; `default_port` counts where it names
  /// none. Port 0 = one that is free. Appends to `sockets`.
  /// Fails when the host is not known, an address is in use, or no address can be had.
  static Status bind_tcp(const ListenSpec& spec, uint16_t default_port,
                         std::vector<ListeningSocket>* sockets);
  /// Takes `path` for a UNIX socket of file mode `mode`, in place of a socket that is there
  /// already.
  static Status bind_unix(const std::string& path, mode_t mode,
                          std::vector<ListeningSocket>* sockets);

  ~ListeningSocket();
  ListeningSocket(ListeningSocket&&) noexcept = default;
  ListeningSocket& operator=(ListeningSocket&&) = delete;

  /// Opens the socket to clients, `backlog` of whom may wait to be accepted. May be called again to
  /// change the backlog.
  Status listen(int backlog);

  int descriptor() const { return socket_.get(); }
  const SocketAddress& address() const { return address_; }

 private:
  /// Tells whether the socket's file is still the one that was made.
  struct UnixFile {
    std::string path;
    dev_t device;
    ino_t inode;
  };

  explicit ListeningSocket(pmem::FileDescriptor socket);

  pmem::FileDescriptor socket_;
  SocketAddress address_;
  std::optional<UnixFile> file_;
};

/// The addresses of `sockets` for the log, separated by commas.
std::string describe_addresses(std::span<const ListeningSocket> sockets);

/// The TCP ports of `sockets`, a line each such as "TCP INET: 11211".
std::string list_ports(std::span<const ListeningSocket> sockets);

/// Writes `ports` to the file `path`, for programs that start a server on a free port. The file
/// appears complete or not at all.
Status write_port_file(const std::string& path, const std::string& ports);

}  // namespace pmcached::server
