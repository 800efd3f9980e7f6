#include "server/net/connection.h"

#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "server/net/socket_address.h"

namespace pmcached::server {
namespace {

/// Runs of bytes handed to the system at a time.
constexpr size_t kMaxRuns = 64;

/// A client with more requests at hand gets its replies in packets of at least this size.
constexpr size_t kMinUnfinishedReply = size_t{16} << 10;

/// Nobody may send a longer command line; the conversation refuses earlier than that.
constexpr size_t kMaxInput = size_t{4} << 20;

bool is_temporary(int error) {
  return error == EAGAIN || error == EWOULDBLOCK;
}

}  // namespace

Connection::Connection(pmem::FileDescriptor socket, ServerContext& context, WorkerContext& worker,
                       ReadBufferPool& buffers)
    : socket_(std::move(socket)),
      context_(context),
      counters_(worker.counters),
      buffer_(buffers),
      conversation_(context, worker),
      last_turn_(context.cache.clock().now()) {}

Connection::Wait Connection::take_turn() {
  in_turn_.store(true, std::memory_order_relaxed);
  last_turn_.store(context_.cache.clock().now(), std::memory_order_relaxed);
  const Wait next = advance();
  in_data_block_.store(conversation_.expected_input() > 0, std::memory_order_relaxed);
  wait_.store(next, std::memory_order_relaxed);
  in_turn_.store(false, std::memory_order_relaxed);
  return next;
}

Connection::Wait Connection::advance() {
  Wait next = Wait::kClosed;
  switch (wait()) {
    case Wait::kInput:
      if (!receive(&next)) {
        return next;
      }
      break;
    case Wait::kOutput:
      if (!send_replies(&next)) {
        return next;
      }
      if (conversation_.should_close()) {
        return Wait::kClosed;
      }
      break;
    case Wait::kTurn:
      break;
    case Wait::kClosed:
      return Wait::kClosed;
  }
  return execute();
}

Connection::Wait Connection::execute() {
  const size_t used =
      conversation_.consume(buffer_.input(), &replies_, context_.settings.requests_per_event);
  buffer_.consume(used);

  const bool more = conversation_.wants_more() && !conversation_.should_close();
  if (!more || replies_.size() >= kMinUnfinishedReply) {
    Wait next = Wait::kClosed;
    if (!send_replies(&next)) {
      return next;
    }
  }
  if (conversation_.should_close()) {
    return Wait::kClosed;
  }
  if (more) {
    return Wait::kTurn;
  }
  if (buffer_.input().size() >= kMaxInput) {
    spdlog::warn("closing connection {}: its command line does not end", descriptor());
    return Wait::kClosed;
  }
  return Wait::kInput;
}

bool Connection::receive(Wait* next) {
  const bool large = conversation_.expected_input() > ReadBufferPool::kSmallBlock;
  const ReadBuffer::Room room =
      buffer_.make_room(large ? ReadBufferPool::kLargeBlock : ReadBufferPool::kSmallBlock);
  ssize_t received = 0;
  do {
    received = recv(descriptor(), room.begin, room.size, 0);
  } while (received < 0 && errno == EINTR);
  if (received > 0) {
    counters_.bytes_read.add(static_cast<uint64_t>(received));
    buffer_.commit(static_cast<size_t>(received));
    return true;
  }
  const int error = received == 0 ? 0 : errno;
  buffer_.release_if_empty();
  *next = is_temporary(error) ? Wait::kInput : Wait::kClosed;
  if (error != 0 && !is_temporary(error) && error != ECONNRESET) {
    spdlog::debug("connection {}: cannot read: {}", descriptor(),
                  std::generic_category().message(error));
  }
  return false;
}

bool Connection::send_replies(Wait* next) {
  while (!replies_.empty()) {
    std::array<iovec, kMaxRuns> runs;
    msghdr message{};
    message.msg_iov = runs.data();
    message.msg_iovlen = replies_.gather(runs);
    size_t offered = 0;
    for (size_t i = 0; i < message.msg_iovlen; ++i) {
      offered += runs[i].iov_len;
    }
    const ssize_t sent = sendmsg(descriptor(), &message, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) {
        continue;
      }
      *next = is_temporary(errno) ? Wait::kOutput : Wait::kClosed;
      return false;
    }
    counters_.bytes_written.add(static_cast<uint64_t>(sent));
    replies_.consume(static_cast<size_t>(sent));
    if (static_cast<size_t>(sent) < offered) {
      *next = Wait::kOutput;
      return false;
    }
  }
  return true;
}

ConnectionInfo Connection::info() const {
  ConnectionInfo info;
  info.fd = descriptor();
  // A UNIX client has no address of its own: the socket file says more.
  const SocketAddress local = local_address(descriptor());
  info.listen_address = local.text();
  info.address =
      local.family() == AF_UNIX ? info.listen_address : peer_address(descriptor()).text();
  const uint32_t now = context_.cache.clock().now();
  const uint32_t last = last_turn_.load(std::memory_order_relaxed);
  info.seconds_since_last_command = now > last ? now - last : 0;
  if (in_turn_.load(std::memory_order_relaxed)) {
    info.state = "conn_parse_cmd";
  } else if (wait() == Wait::kOutput) {
    info.state = "conn_mwrite";
  } else if (in_data_block_.load(std::memory_order_relaxed)) {
    info.state = "conn_nread";
  } else {
    info.state = wait() == Wait::kTurn ? "conn_new_cmd" : "conn_read";
  }
  return info;
}

}  // namespace pmcached::server
