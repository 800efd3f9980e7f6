#include "server/commands/administration.h"

#include <algorithm>

#include "server/protocol/text_reply.h"

namespace pmcached::server {
namespace {

constexpr uint32_t kMaxVerbosity = 2;

}  // namespace

void execute_flush_all(const FlushAllRequest& request, const CommandScope& scope) {
  const bool allowed = scope.server.settings.flush_enabled;
  if (!allowed || request.malformed) {
    // cmd_flush counts the commands received, these included.
    scope.session.counters().flush_cmds.add();
    scope.reply_unless(request.noreply, allowed ? kBadExptimeReply : kNoFlushReply);
    return;
  }
  const engine::Clock& clock = scope.cache().clock();
  scope.cache().flush_all(scope.session,
                          request.delay > 0 ? clock.absolute_expiry(request.delay) : clock.now());
  scope.reply_unless(request.noreply, kOkReply);
}

void execute_version(const CommandScope& scope) {
  scope.reply("VERSION ");
  scope.reply(scope.server.version);
  scope.reply(kLineEnd);
}

void execute_verbosity(const VerbosityRequest& request, const CommandScope& scope) {
  const int level = static_cast<int>(std::min(request.level, kMaxVerbosity));
  scope.server.verbosity.store(level, std::memory_order_relaxed);
  scope.server.set_verbosity(level);
  scope.reply_unless(request.noreply, kOkReply);
}

bool execute_shutdown(const ShutdownRequest& request, const CommandScope& scope) {
  if (!scope.server.settings.shutdown_command) {
    scope.reply(kNoShutdownReply);
    return false;
  }
  if (request.mode == ShutdownRequest::Mode::kUnknown) {
    scope.reply(kBadShutdownReply);
    return false;
  }
  scope.server.request_shutdown(request.mode == ShutdownRequest::Mode::kGraceful);
  return true;
}

}  // namespace pmcached::server
