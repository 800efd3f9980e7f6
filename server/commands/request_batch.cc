#include "server/commands/request_batch.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "server/commands/retrieval.h"
#include "server/protocol/limits.h"
#include "server/protocol/text_parser.h"
#include "server/protocol/text_reply.h"
#include "server/protocol/text_tokens.h"

namespace pmcached::server {
namespace {

/// Bytes of the data block behind the request's line, line end included.
size_t data_block_size(const TextRequest& request) {
  const auto* const storage = std::get_if<StorageRequest>(&request);
  return storage == nullptr ? 0 : size_t{storage->length} + kLineEnd.size();
}

}  // namespace

RequestBatch::RequestBatch() {
  requests_.reserve(kMaxRequests);
  keys_.reserve(kMaxKeys);
}

void RequestBatch::look_ahead(std::string_view input, size_t searched, size_t max_requests,
                              const engine::Cache& cache) {
  requests_.clear();
  keys_.clear();
  const size_t limit = std::min(max_requests, kMaxRequests);
  size_t position = 0;
  while (requests_.size() < limit && position <= input.size()) {
    const TextLine line = find_line(input.substr(position), std::exchange(searched, 0));
    if (line.state != TextLine::State::kComplete) {
      stopped_by_ = line.state;
      break;
    }
    PreparedRequest& prepared = requests_.emplace_back();
    prepared.request = parse_text_request(line.text);
    prepared.begin = position;
    prepared.line_size = line.size;
    prepared.first_key = keys_.size();
    prepared.key_count = collect_keys(prepared.request);
    position += line.size + data_block_size(prepared.request);
  }
  if (keys_.size() > 1) {
    prefetch(cache, keys_);
  }
}

size_t RequestBatch::collect_keys(const TextRequest& request) {
  return std::visit(
      [this](const auto& typed) -> size_t {
        if constexpr (requires { typed.keys; }) {
          return collect_all(typed.keys);
        } else if constexpr (requires { typed.key; }) {
          return collect(typed.key);
        } else {
          return 0;
        }
      },
      request);
}

size_t RequestBatch::collect(std::string_view key) {
  keys_.push_back(engine::hash_key(key));
  return 1;
}

size_t RequestBatch::collect_all(std::string_view words) {
  const size_t first = keys_.size();
  TokenCursor cursor(words);
  for (std::string_view key = cursor.next(); !key.empty(); key = cursor.next()) {
    if (keys_.size() >= kMaxKeys || key.size() > kMaxKeyBytes) {
      keys_.resize(first);
      return 0;
    }
    keys_.push_back(engine::hash_key(key));
  }
  return keys_.size() - first;
}

}  // namespace pmcached::server
