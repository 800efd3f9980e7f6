#pragma once

#include <cstddef>
#include <span>

#include "server/commands/command_scope.h"
#include "server/protocol/text_request.h"

namespace pmcached::server {

/// Values up to this size are copied into the reply; larger ones are sent from the pool under a
/// pin, which costs an atomic add on the item's metadata but not the copy.
inline constexpr size_t kCopyLimit = size_t{16} << 10;

/// Replies that may wait for a slow client before its further requests wait too: bytes of our
/// memory, bytes in the pool that cannot be evicted meanwhile, and pieces of the latter.
inline constexpr size_t kMaxPendingCopied = size_t{1} << 20;
inline constexpr size_t kMaxPendingPinned = size_t{8} << 20;
inline constexpr size_t kMaxPendingRuns = 1024;

/// Executes a get, gets, gat or gats and appends the reply. `keys` are the request's keys if the
/// caller has hashed them already; if empty, they are taken from the request.
void execute_retrieval(const RetrievalRequest& request, std::span<const engine::HashedKey> keys,
                       const CommandScope& scope);

/// Starts loading what the keys lead to, so that their cache misses overlap. Worth it for two keys
/// or more.
void prefetch(const engine::Cache& cache, std::span<const engine::HashedKey> keys);

}  // namespace pmcached::server
