#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "engine/cache.h"
#include "server/protocol/text_line.h"
#include "server/protocol/text_request.h"

namespace pmcached::server {

/// A request found in the input, with its keys hashed.
struct PreparedRequest {
  TextRequest request;
  size_t begin = 0;      ///< where its line begins in the input
  size_t line_size = 0;  ///< bytes of the line with its end
  size_t first_key = 0;
  /// 0 for requests without keys, and for a get that has more keys than fit or a key too long.
  size_t key_count = 0;
};

/// The complete requests at the front of some input, parsed ahead of their execution.
///
/// Purpose: the cache misses of many requests overlap instead of queueing.
/// Thread safety: belongs to one thread at a time. Meant to be reused, so that nothing is
/// allocated. Ownership: requests and keys point into the input. Limits: it looks ahead as if every
/// data block were well formed. One that is not moves the next line to another place, so check each
/// request's `begin` before executing it.
class RequestBatch {
 public:
  RequestBatch();

  /// Replaces the batch by the requests at the front of `input`, `max_requests` at most and not
  /// many more than fill a CPU's miss buffers, and prefetches what their keys lead to. The first
  /// `searched` bytes are known to hold no line feed.
  void look_ahead(std::string_view input, size_t searched, size_t max_requests,
                  const engine::Cache& cache);

  std::span<const PreparedRequest> requests() const { return requests_; }
  std::span<const engine::HashedKey> keys_of(const PreparedRequest& prepared) const {
    return std::span(keys_).subspan(prepared.first_key, prepared.key_count);
  }
  /// Why a batch is empty: kUnfinished or kHopeless.
  TextLine::State stopped_by() const { return stopped_by_; }

 private:
  static constexpr size_t kMaxRequests = 32;
  static constexpr size_t kMaxKeys = 64;

  size_t collect_keys(const TextRequest& request);
  size_t collect(std::string_view key);
  size_t collect_all(std::string_view words);

  std::vector<PreparedRequest> requests_;
  std::vector<engine::HashedKey> keys_;
  TextLine::State stopped_by_ = TextLine::State::kUnfinished;
};

}  // namespace pmcached::server
