#include "server/commands/value_upload.h"

#include <algorithm>
#include <cassert>
#include <span>

#include "server/protocol/text_reply.h"

namespace pmcached::server {
namespace {

engine::StoreMode mode_of(StoreCommand command) {
  switch (command) {
    case StoreCommand::kSet:
      return engine::StoreMode::kSet;
    case StoreCommand::kAdd:
      return engine::StoreMode::kAdd;
    case StoreCommand::kReplace:
      return engine::StoreMode::kReplace;
    case StoreCommand::kAppend:
      return engine::StoreMode::kAppend;
    case StoreCommand::kPrepend:
      return engine::StoreMode::kPrepend;
    case StoreCommand::kCas:
      return engine::StoreMode::kCas;
  }
  return engine::StoreMode::kSet;
}

std::string_view reply_to(engine::Outcome outcome, bool concatenates) {
  switch (outcome) {
    case engine::Outcome::kStored:
      return kStoredReply;
    case engine::Outcome::kExists:
      return kExistsReply;
    case engine::Outcome::kNotFound:
      return kNotFoundReply;
    // An append whose result does not fit reads NOT_STORED in memcached.
    case engine::Outcome::kTooLarge:
      return concatenates ? kNotStoredReply : kTooLargeReply;
    case engine::Outcome::kOutOfMemory:
      return concatenates ? kNotStoredReply : kStoreMemoryReply;
    default:
      return kNotStoredReply;
  }
}

}  // namespace

void ValueUpload::start(const StorageRequest& request, const engine::HashedKey& key,
                        const CommandScope& scope) {
  assert(!active());
  noreply_ = request.noreply;
  concatenates_ =
      request.command == StoreCommand::kAppend || request.command == StoreCommand::kPrepend;
  value_missing_ = request.length;
  line_end_missing_ = static_cast<uint32_t>(line_end_.size());
  scope.server.prefix_statistics.count(PrefixStatistics::Command::kSet, key.bytes);
  const engine::StoreRequest store = {
      .mode = mode_of(request.command),
      .key = key,
      .client_flags = request.client_flags,
      .exptime = scope.cache().clock().absolute_expiry(request.exptime),
      .length = request.length,
      .expected_cas = request.cas,
  };
  const engine::Outcome outcome = scope.cache().begin_store(scope.session, store, &store_);
  if (outcome != engine::Outcome::kStored) {
    // Refused before the value was seen, an append gets the same words as a set.
    scope.reply_unless(noreply_, reply_to(outcome, /*concatenates=*/false));
  }
}

size_t ValueUpload::feed(std::string_view input, const CommandScope& scope) {
  const size_t value_bytes = std::min<size_t>(value_missing_, input.size());
  if (store_.active() && value_bytes != 0) {
    store_.write(std::span(input.data(), value_bytes));
  }
  value_missing_ -= static_cast<uint32_t>(value_bytes);
  size_t used = value_bytes;
  if (value_missing_ != 0) {
    return used;
  }
  while (line_end_missing_ != 0 && used < input.size()) {
    line_end_[line_end_.size() - line_end_missing_] = input[used];
    ++used;
    --line_end_missing_;
  }
  if (line_end_missing_ == 0 && store_.active()) {
    finish(scope);
  }
  return used;
}

void ValueUpload::finish(const CommandScope& scope) {
  if (std::string_view(line_end_.data(), line_end_.size()) != kLineEnd) {
    store_.abandon();
    scope.reply_unless(noreply_, kBadChunkReply);
    return;
  }
  const engine::Outcome outcome = scope.cache().finish_store(scope.session, &store_);
  scope.reply_unless(noreply_, reply_to(outcome, concatenates_));
}

}  // namespace pmcached::server
