#include "engine/item/hashed_key.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace pmcached::engine {

HashedKey hash_key(std::string_view key) {
  return {.bytes = key, .hash = XXH3_64bits(key.data(), key.size())};
}

}  // namespace pmcached::engine
