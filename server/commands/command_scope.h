#pragma once

#include <string_view>

#include "server/commands/reply_buffer.h"
#include "server/commands/server_context.h"

namespace pmcached::server {

/// What a command is executed with. Lives as long as one Conversation::consume(), inside the
/// session's turn.
struct CommandScope {
  ServerContext& server;
  engine::Session& session;
  ReplyBuffer& replies;

  engine::Cache& cache() const { return server.cache; }
  void reply(std::string_view line) const { replies.append(line); }
  void reply_unless(bool noreply, std::string_view line) const {
    if (!noreply) {
      replies.append(line);
    }
  }
};

}  // namespace pmcached::server
