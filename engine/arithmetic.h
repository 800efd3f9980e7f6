#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/outcome.h"

namespace pmcached::engine {

/// The result of incr and decr.
struct Arithmetic {
  Outcome outcome = Outcome::kNotFound;  ///< kChanged, kNotFound, kNotANumber, kOutOfMemory
  uint64_t value = 0;                    ///< the new number, when kChanged
  uint64_t cas = 0;
};

/// The number that memcached would read from a value: decimal digits, with spaces before them and
/// anything after a space or NUL behind them. Thread safety: pure function.
std::optional<uint64_t> parse_number(std::string_view value);

/// The digits of `number`, padded with spaces to `min_length`: as memcached does when a number
/// becomes shorter than the value it replaces. Thread safety: pure function.
std::string format_number(uint64_t number, size_t min_length);

/// incr wraps around at 2^64, decr stops at 0. Thread safety: pure function.
constexpr uint64_t apply_delta(uint64_t number, uint64_t delta, bool increment) {
  if (increment) {
    return number + delta;
  }
  return delta > number ? 0 : number - delta;
}

}  // namespace pmcached::engine
