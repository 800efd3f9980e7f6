#include "server/net/listener.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace pmcached::server {
namespace {

constexpr std::string_view kRejection = "ERROR Too many open connections\r\n";

/// Clients accepted before other events get their turn.
constexpr int kMaxAcceptsPerEvent = 64;

/// How often a suspended listener looks whether clients have gone.
constexpr auto kRetryPeriod = std::chrono::milliseconds(10);

/// How long a lack of descriptors or memory that is not due to our clients is waited out.
constexpr auto kMaxResourcePause = std::chrono::seconds(1);

}  // namespace

Listener::Listener(EventLoop& loop, std::vector<ListeningSocket> sockets, int backlog,
                   bool reject_at_limit, ConnectionLimit& limit, Dispatch dispatch)
    : sockets_(std::move(sockets)),
      backlog_(backlog),
      reject_at_limit_(reject_at_limit),
      limit_(limit),
      dispatch_(std::move(dispatch)),
      loop_(loop),
      retry_(loop, &Listener::on_retry, this) {}

Status Listener::start() {
  for (ListeningSocket& socket : sockets_) {
    if (Status status = socket.listen(backlog_); !status.ok()) {
      return status;
    }
    events_.push_back(std::make_unique<Event>(loop_, &Listener::on_client_waiting, this));
  }
  if (!watch_sockets()) {
    return {Status::Code::kIo, "cannot watch the listening sockets: the system has no memory"};
  }
  counters_.accepting.store(true, std::memory_order_relaxed);
  return {};
}

void Listener::close() {
  retry_.cancel();
  events_.clear();
  sockets_.clear();
  counters_.accepting.store(false, std::memory_order_relaxed);
}

void Listener::on_client_waiting(int descriptor, short /*what*/, void* listener) {
  static_cast<Listener*>(listener)->accept_from(descriptor);
}

void Listener::on_retry(int /*descriptor*/, short /*what*/, void* listener) {
  static_cast<Listener*>(listener)->resume_if_possible();
}

void Listener::accept_from(int descriptor) {
  for (int accepted = 0; accepted < kMaxAcceptsPerEvent; ++accepted) {
    if (!reject_at_limit_ && limit_.reached()) {
      pause();
      return;
    }
    if (!accept_one(descriptor)) {
      return;
    }
  }
}

bool Listener::accept_one(int descriptor) {
  pmem::FileDescriptor client(accept4(descriptor, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!client.valid()) {
    switch (const int error = errno; error) {
      case EAGAIN:
        return false;
      case EINTR:
      case ECONNABORTED:
        return true;
      default:
        spdlog::warn("cannot accept a client: {}; new clients have to wait",
                     std::generic_category().message(error));
        pause();
        return false;
    }
  }
  if (limit_.try_enter()) {
    dispatch_(std::move(client));
  } else {
    counters_.rejected.add();
    spdlog::debug("a client was refused: the limit of connections (-c) is reached");
    // Best effort: a client that cannot take the line at once sees the closed connection.
    send(client.get(), kRejection.data(), kRejection.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  return true;
}

void Listener::pause() {
  for (const std::unique_ptr<Event>& event : events_) {
    event->cancel();
  }
  // With no backlog, clients see at once that they have to try elsewhere.
  for (ListeningSocket& socket : sockets_) {
    if (const Status status = socket.listen(0); !status.ok()) {
      spdlog::warn("{}", status.message());
    }
  }
  counters_.pauses.add();
  counters_.accepting.store(false, std::memory_order_relaxed);
  paused_at_ = std::chrono::steady_clock::now();
  clients_when_paused_ = limit_.current();
  spdlog::debug("accepting no clients until one of {} has gone", clients_when_paused_);
  retry_.wait_once(kRetryPeriod);
}

void Listener::resume_if_possible() {
  const auto paused_for = std::chrono::steady_clock::now() - paused_at_;
  const bool has_room = reject_at_limit_ || !limit_.reached();
  const bool has_resources =
      limit_.current() < clients_when_paused_ || paused_for > kMaxResourcePause;
  if (!has_room || !has_resources) {
    retry_.wait_once(kRetryPeriod);
    return;
  }
  for (ListeningSocket& socket : sockets_) {
    if (const Status status = socket.listen(backlog_); !status.ok()) {
      spdlog::warn("{}", status.message());
    }
  }
  if (!watch_sockets()) {
    retry_.wait_once(kRetryPeriod);
    return;
  }
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(paused_for).count();
  counters_.pause_micros.add(static_cast<uint64_t>(micros));
  counters_.accepting.store(true, std::memory_order_relaxed);
}

bool Listener::watch_sockets() {
  for (size_t i = 0; i < sockets_.size(); ++i) {
    if (!events_[i]->wait_for(sockets_[i].descriptor(), EV_READ)) {
      return false;
    }
  }
  return true;
}

}  // namespace pmcached::server
