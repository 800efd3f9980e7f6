#pragma once

#include "server/commands/command_scope.h"
#include "server/protocol/text_request.h"

namespace pmcached::server {

void execute_flush_all(const FlushAllRequest& request, const CommandScope& scope);
void execute_version(const CommandScope& scope);
void execute_verbosity(const VerbosityRequest& request, const CommandScope& scope);
/// Returns whether the server is to stop, so that the client is to be disconnected.
bool execute_shutdown(const ShutdownRequest& request, const CommandScope& scope);

}  // namespace pmcached::server
