#include "server/commands/retrieval.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "server/protocol/limits.h"
#include "server/protocol/text_reply.h"
#include "server/protocol/text_tokens.h"

namespace pmcached::server {
namespace {

static_assert(kMaxKeyBytes == engine::kMaxKeyBytes);

/// Keys of one long multi-key get that are looked up together.
constexpr size_t kKeysAtOnce = 32;

void append_copied(const engine::ItemView& item, ReplyBuffer* replies) {
  char* const start = replies->reserve(item.size() + kLineEnd.size());
  char* to = start;
  for (uint32_t i = 0; i < item.segment_count(); ++i) {
    const std::string_view segment = item.segment(i);
    std::memcpy(to, segment.data(), segment.size());
    to += segment.size();
  }
  std::memcpy(to, kLineEnd.data(), kLineEnd.size());
  replies->commit(item.size() + kLineEnd.size());
}

void append_pinned(const engine::ItemView& item, const CommandScope& scope) {
  engine::Pin pin = scope.cache().pin(item);
  if (!pin) {
    append_copied(item, &scope.replies);
    return;
  }
  const uint32_t segments = item.segment_count();
  for (uint32_t i = 0; i + 1 < segments; ++i) {
    scope.replies.append_pinned(item.segment(i), engine::Pin());
  }
  scope.replies.append_pinned(item.segment(segments - 1), std::move(pin));
  scope.replies.append(kLineEnd);
}

/// One get's parameters in the engine's terms.
class Retrieval {
 public:
  Retrieval(const RetrievalRequest& request, const CommandScope& scope)
      : scope_(scope),
        with_cas_(request.with_cas),
        touch_(request.touch),
        exptime_(touch_ ? scope.cache().clock().absolute_expiry(request.exptime) : 0) {}

  /// Looks one key up and appends its value, if there is one.
  void answer(const engine::HashedKey& key) const {
    engine::ItemView item;
    const bool hit = touch_ ? scope_.cache().get_and_touch(scope_.session, key, exptime_, &item)
                            : scope_.cache().get(scope_.session, key, &item);
    scope_.server.prefix_statistics.count(PrefixStatistics::Command::kGet, key.bytes, hit);
    if (!hit) {
      return;
    }
    ReplyBuffer& replies = scope_.replies;
    char* const line = replies.reserve(kMaxValueLine);
    const std::optional<uint64_t> cas = with_cas_ ? std::optional(cas_of(item)) : std::nullopt;
    const char* const end =
        write_value_line(line, key.bytes, item.client_flags(), item.size(), cas);
    replies.commit(static_cast<size_t>(end - line));
    // Past the bound of pending copies, a get of very many keys goes on with pins.
    const bool copy = item.size() <= kCopyLimit && replies.copied_size() < kMaxPendingCopied;
    if (copy || item.size() == 0) {
      append_copied(item, &replies);
    } else {
      append_pinned(item, scope_);
    }
  }

 private:
  /// Without CAS numbers (-C), records carry some all the same, for recovery.
  uint64_t cas_of(const engine::ItemView& item) const {
    return scope_.server.settings.cas_enabled ? item.cas() : 0;
  }

  const CommandScope& scope_;
  const bool with_cas_;
  const bool touch_;
  const uint32_t exptime_;
};

/// Takes up to kKeysAtOnce keys from the cursor and answers them. Returns whether to go on; sets
/// `valid` to false when a key is too long.
bool answer_some(const Retrieval& retrieval, TokenCursor* cursor, const CommandScope& scope,
                 bool* valid) {
  std::array<engine::HashedKey, kKeysAtOnce> keys;
  size_t count = 0;
  std::string_view key;
  while (count < keys.size() && !(key = cursor->next()).empty()) {
    if (key.size() > kMaxKeyBytes) {
      *valid = false;
      break;
    }
    keys[count++] = engine::hash_key(key);
  }
  const std::span some = std::span(keys).first(count);
  if (count > 1) {
    prefetch(scope.cache(), some);
  }
  for (const engine::HashedKey& hashed : some) {
    retrieval.answer(hashed);
  }
  return *valid && count == keys.size();
}

}  // namespace

void execute_retrieval(const RetrievalRequest& request, std::span<const engine::HashedKey> keys,
                       const CommandScope& scope) {
  const Retrieval retrieval(request, scope);
  const ReplyBuffer::Mark mark = scope.replies.mark();
  bool valid = true;
  if (!keys.empty()) {
    for (const engine::HashedKey& key : keys) {
      retrieval.answer(key);
    }
  } else {
    TokenCursor cursor(request.keys);
    while (answer_some(retrieval, &cursor, scope, &valid)) {
    }
  }
  if (!valid) {
    scope.replies.rewind(mark);
  }
  scope.reply(valid ? kEndReply : kBadFormatReply);
}

void prefetch(const engine::Cache& cache, std::span<const engine::HashedKey> keys) {
  for (const engine::HashedKey& key : keys) {
    cache.prefetch_bucket(key);
  }
  for (const engine::HashedKey& key : keys) {
    cache.prefetch_item(key);
  }
}

}  // namespace pmcached::server
