#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/cache.h"
#include "server/commands/command_scope.h"
#include "server/protocol/text_request.h"

namespace pmcached::server {

/// The data block of a store while it arrives: set, add, replace, append, prepend, cas.
///
/// Purpose: carries value bytes from the network to their place in the pool, in pieces of any size.
/// Thread safety: belongs to its conversation.
/// Ownership: owns the room found for the value; dropping an unfinished upload frees it. Must be
/// gone before the cache is destroyed.
/// Failure: a store that is refused has its data block swallowed, so that the value is not taken
/// for commands.
class ValueUpload {
 public:
  /// Takes a store's command line. Replies if it is refused. Precondition: !active().
  void start(const StorageRequest& request, const engine::HashedKey& key,
             const CommandScope& scope);
  /// Takes what `input` holds of the data block; at its end stores the value and replies. Returns
  /// how many bytes it took. Precondition: active().
  size_t feed(std::string_view input, const CommandScope& scope);

  bool active() const { return awaited() != 0; }
  /// Bytes still to come, line end included.
  uint64_t awaited() const { return uint64_t{value_missing_} + line_end_missing_; }

 private:
  void finish(const CommandScope& scope);

  engine::PendingStore store_;  ///< inactive: the data block is swallowed
  uint32_t value_missing_ = 0;
  uint32_t line_end_missing_ = 0;
  std::array<char, 2> line_end_{};  ///< what came in its place
  bool noreply_ = false;
  bool concatenates_ = false;  ///< append or prepend
};

}  // namespace pmcached::server
