#pragma once

#include "server/commands/command_scope.h"
#include "server/protocol/text_request.h"

namespace pmcached::server {

/// incr and decr.
void execute_arithmetic(const ArithmeticRequest& request, const engine::HashedKey& key,
                        const CommandScope& scope);
void execute_delete(const DeleteRequest& request, const engine::HashedKey& key,
                    const CommandScope& scope);
void execute_touch(const TouchRequest& request, const engine::HashedKey& key,
                   const CommandScope& scope);

}  // namespace pmcached::server
