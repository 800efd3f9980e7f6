#include "server/commands/conversation.h"

#include <cassert>
#include <utility>
#include <variant>

#include "server/commands/administration.h"
#include "server/commands/modification.h"
#include "server/commands/retrieval.h"
#include "server/commands/statistics.h"
#include "server/protocol/text_line.h"
#include "server/protocol/text_reply.h"

namespace pmcached::server {
namespace {

/// Makes one visitor of a function per alternative.
template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

bool must_leave_first(const ReplyBuffer& replies) {
  return replies.copied_size() >= kMaxPendingCopied ||
         replies.size() - replies.copied_size() >= kMaxPendingPinned ||
         replies.pinned_runs() >= kMaxPendingRuns;
}

}  // namespace

Conversation::Conversation(ServerContext& context, WorkerContext& worker)
    : context_(context), worker_(worker) {}

size_t Conversation::consume(std::string_view input, ReplyBuffer* replies, int max_requests) {
  assert(!should_close_ && max_requests > 0);
  const engine::Session::Turn turn(worker_.session);
  const CommandScope scope{context_, worker_.session, *replies};
  size_t searched = std::exchange(searched_, 0);
  size_t used = upload_.active() ? upload_.feed(input, scope) : 0;
  wants_more_ = false;
  requests_left_ = max_requests;
  while (!upload_.active() && !should_close_ && used < input.size()) {
    const std::string_view rest = input.substr(used);
    if (requests_left_ == 0 || must_leave_first(*replies)) {
      wants_more_ = find_line(rest).state != TextLine::State::kUnfinished;
      if (wants_more_ && requests_left_ == 0) {
        worker_.counters.yields.add();
      }
      break;
    }
    worker_.batch.look_ahead(rest, std::exchange(searched, 0), static_cast<size_t>(requests_left_),
                             context_.cache);
    if (worker_.batch.requests().empty()) {
      should_close_ = worker_.batch.stopped_by() == TextLine::State::kHopeless;
      searched_ = rest.size();
      break;
    }
    used += execute(worker_.batch.requests(), rest, scope);
  }
  return used;
}

/// Executes requests of a batch until one has to wait; returns the bytes of `input` used.
size_t Conversation::execute(std::span<const PreparedRequest> requests, std::string_view input,
                             const CommandScope& scope) {
  size_t used = 0;
  for (const PreparedRequest& prepared : requests) {
    // A data block that did not end where it should has moved the following lines.
    const bool moved = prepared.begin != used;
    if (moved || upload_.active() || should_close_ || must_leave_first(scope.replies)) {
      break;
    }
    used += prepared.line_size;
    --requests_left_;
    execute(prepared, scope);
    if (upload_.active()) {
      used += upload_.feed(input.substr(used), scope);
    }
  }
  return used;
}

void Conversation::execute(const PreparedRequest& prepared, const CommandScope& scope) {
  const std::span keys = worker_.batch.keys_of(prepared);
  std::visit(
      Overloaded{
          [&](const RetrievalRequest& request) { execute_retrieval(request, keys, scope); },
          [&](const StorageRequest& request) { upload_.start(request, keys.front(), scope); },
          [&](const ArithmeticRequest& request) {
            execute_arithmetic(request, keys.front(), scope);
          },
          [&](const DeleteRequest& request) { execute_delete(request, keys.front(), scope); },
          [&](const TouchRequest& request) { execute_touch(request, keys.front(), scope); },
          [&](const FlushAllRequest& request) { execute_flush_all(request, scope); },
          [&](const VersionRequest&) { execute_version(scope); },
          [&](const VerbosityRequest& request) { execute_verbosity(request, scope); },
          [&](const StatsRequest& request) { execute_stats(request, scope); },
          [&](const ShutdownRequest& request) { should_close_ = execute_shutdown(request, scope); },
          [&](const QuitRequest&) { should_close_ = true; },
          [&](const MalformedRequest& request) {
            scope.reply_unless(request.noreply, request.reply);
          },
          [&](const HttpRequest&) { should_close_ = true; },
      },
      prepared.request);
}

}  // namespace pmcached::server
