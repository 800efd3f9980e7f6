#pragma once

#include <cstdint>

#include "engine/item/hashed_key.h"

namespace pmcached::engine {

/// Under which condition, and how, a value is stored.
enum class StoreMode : uint8_t { kSet, kAdd, kReplace, kAppend, kPrepend, kCas };

/// What a store asks for.
struct StoreRequest {
  StoreMode mode = StoreMode::kSet;
  HashedKey key;
  uint64_t client_flags = 0;
  uint32_t exptime = 0;       ///< absolute, as Clock::absolute_expiry() makes it; 0 = never
  uint32_t length = 0;        ///< bytes of value that will follow
  uint64_t expected_cas = 0;  ///< for kCas
};

}  // namespace pmcached::engine
