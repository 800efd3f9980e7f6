#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "server/commands/command_scope.h"
#include "server/commands/reply_buffer.h"
#include "server/commands/request_batch.h"
#include "server/commands/server_context.h"
#include "server/commands/value_upload.h"

namespace pmcached::server {

/// One client's dialogue: bytes in, replies out, no sockets.
///
/// Purpose: turns a client's byte stream into cache operations and their results into reply bytes.
/// Thread safety: belongs to one thread at a time.
/// Ownership: borrows the contexts, which outlive it; must be gone before the cache is destroyed.
/// Failure: whatever the client sends, the worst that happens is that should_close() becomes true.
/// Order: effects and replies come in the order of the requests; only loading into CPU caches runs
/// ahead.
class Conversation {
 public:
  Conversation(ServerContext& context, WorkerContext& worker);
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  /// Executes what is complete in `input`, at most `max_requests` requests, and appends the
  /// replies. Returns how many bytes were used; the caller presents the rest again, with more
  /// behind it. An incomplete command line is not used; the data block of a store is, piece by
  /// piece. Stops early when the replies pending are more than a client may leave unread.
  /// Preconditions: !should_close(); max_requests > 0; the worker's session is outside a turn.
  size_t consume(std::string_view input, ReplyBuffer* replies, int max_requests);

  /// Whether the last consume() left requests behind that could be executed as they are: because of
  /// max_requests, or because replies have to leave first.
  bool wants_more() const { return wants_more_; }
  /// Whether the connection is to be closed once the pending replies have been sent.
  bool should_close() const { return should_close_; }
  /// Bytes of data block still to come, so that the next read can be sized; 0 between requests.
  size_t expected_input() const { return upload_.awaited(); }

 private:
  size_t execute(std::span<const PreparedRequest> requests, std::string_view input,
                 const CommandScope& scope);
  void execute(const PreparedRequest& prepared, const CommandScope& scope);

  ServerContext& context_;
  WorkerContext& worker_;
  ValueUpload upload_;
  size_t searched_ = 0;    ///< bytes of unused input that are known to hold no line feed
  int requests_left_ = 0;  ///< of consume()'s max_requests
  bool wants_more_ = false;
  bool should_close_ = false;
};

}  // namespace pmcached::server
