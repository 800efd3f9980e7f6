#include "server/commands/modification.h"

#include <cstring>

#include "server/protocol/text_reply.h"

namespace pmcached::server {
namespace {

void reply_number(uint64_t number, const CommandScope& scope) {
  char* const start = scope.replies.reserve(kMaxNumberBytes + kLineEnd.size());
  char* const end = write_number(start, number);
  std::memcpy(end, kLineEnd.data(), kLineEnd.size());
  scope.replies.commit(static_cast<size_t>(end - start) + kLineEnd.size());
}

}  // namespace

void execute_arithmetic(const ArithmeticRequest& request, const engine::HashedKey& key,
                        const CommandScope& scope) {
  const engine::Arithmetic result =
      scope.cache().add(scope.session, key, request.delta, request.increment);
  if (request.noreply) {
    return;
  }
  switch (result.outcome) {
    case engine::Outcome::kChanged:
      reply_number(result.value, scope);
      break;
    case engine::Outcome::kNotANumber:
      scope.reply(kNotNumericReply);
      break;
    case engine::Outcome::kOutOfMemory:
      scope.reply(kMemoryReply);
      break;
    default:
      scope.reply(kNotFoundReply);
      break;
  }
}

void execute_delete(const DeleteRequest& request, const engine::HashedKey& key,
                    const CommandScope& scope) {
  scope.server.prefix_statistics.count(PrefixStatistics::Command::kDelete, key.bytes);
  const engine::Outcome outcome = scope.cache().remove(scope.session, key);
  scope.reply_unless(request.noreply,
                     outcome == engine::Outcome::kDeleted ? kDeletedReply : kNotFoundReply);
}

void execute_touch(const TouchRequest& request, const engine::HashedKey& key,
                   const CommandScope& scope) {
  const uint32_t exptime = scope.cache().clock().absolute_expiry(request.exptime);
  const engine::Outcome outcome = scope.cache().touch(scope.session, key, exptime);
  scope.reply_unless(request.noreply,
                     outcome == engine::Outcome::kTouched ? kTouchedReply : kNotFoundReply);
}

}  // namespace pmcached::server
