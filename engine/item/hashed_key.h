#pragma once

#include <cstdint>
#include <string_view>

namespace pmcached::engine {

/// A key with its hash, computed once per request.
struct HashedKey {
  std::string_view bytes;
  uint64_t hash = 0;
};

/// XXH3 of the key. Thread safety: pure function. Precondition: 1 to 250 bytes.
HashedKey hash_key(std::string_view key);

}  // namespace pmcached::engine
