#pragma once

#include <cstdint>

namespace pmcached::engine {

/// How a request to the cache ended. Misses and refusals are ordinary outcomes, not errors.
enum class Outcome : uint8_t {
  kStored,       ///< the record is durable and visible
  kNotStored,    ///< the condition of add, replace, append or prepend did not hold
  kExists,       ///< cas: the item was changed since
  kNotFound,     ///< no live item under the key
  kTooLarge,     ///< record larger than the item limit; a set has removed the old item
  kOutOfMemory,  ///< no slot could be had; a set has removed the old item
  kDeleted,
  kTouched,
  kChanged,     ///< incr, decr: the new number is stored
  kNotANumber,  ///< incr, decr on a value that is not an unsigned 64-bit decimal number
};

}  // namespace pmcached::engine
