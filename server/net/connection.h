#pragma once

#include <atomic>
#include <cstdint>

#include "pmem/file_descriptor.h"
#include "server/commands/conversation.h"
#include "server/commands/reply_buffer.h"
#include "server/commands/server_context.h"
#include "server/net/read_buffer.h"

namespace pmcached::server {

/// One client: its socket, its unfinished input and its unsent replies.
///
/// Purpose: moves bytes between a socket and a Conversation, in turns, without waiting.
/// Thread safety: belongs to the worker's thread; info() may be called from any thread while the
/// worker's list of clients is locked, which keeps the connection and its socket alive.
/// Ownership: owns the socket; borrows contexts and pool, which outlive it.
/// Back pressure: while a client leaves replies unread, nothing more is read from it or executed.
/// Failure: whatever goes wrong with the socket ends the connection.
class Connection {
 public:
  /// What a connection waits for between turns.
  enum class Wait : uint8_t {
    kInput,   ///< the socket to become readable
    kOutput,  ///< the socket to become writable: replies are pending
    kTurn,  ///< nothing but other clients' turns: more requests are at hand than one turn executes
    kClosed,  ///< nothing: it is over, for one reason or another
  };

  Connection(pmem::FileDescriptor socket, ServerContext& context, WorkerContext& worker,
             ReadBufferPool& buffers);

  /// Does what can be done now that what wait() named has come: one receive, at most -R requests,
  /// one send. Returns the new wait().
  Wait take_turn();
  Wait wait() const { return wait_.load(std::memory_order_relaxed); }

  int descriptor() const { return socket_.get(); }
  ConnectionInfo info() const;

 private:
  Wait advance();
  Wait execute();
  /// Reads once. False when there was nothing to read or the client is gone; `*next` says which.
  bool receive(Wait* next);
  /// Sends until nothing is pending, which is the only case of true, or the socket is full.
  bool send_replies(Wait* next);

  pmem::FileDescriptor socket_;
  ServerContext& context_;
  ConnectionCounters& counters_;
  ReadBuffer buffer_;
  ReplyBuffer replies_;
  Conversation conversation_;

  // Written by the worker, read by info(). Relaxed: they are shown, and nothing depends on them.
  std::atomic<Wait> wait_{Wait::kInput};
  std::atomic<bool> in_turn_{false};
  std::atomic<bool> in_data_block_{false};
  std::atomic<uint32_t> last_turn_;  ///< Unix second
};

}  // namespace pmcached::server
