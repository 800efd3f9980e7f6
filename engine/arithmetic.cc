#include "engine/arithmetic.h"

#include <algorithm>
#include <charconv>

namespace pmcached::engine {

std::optional<uint64_t> parse_number(std::string_view value) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  const size_t first = value.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) {
    return std::nullopt;
  }
  value.remove_prefix(first);
  if (value.front() == '+') {
    value.remove_prefix(1);
  }
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  const bool terminated = end == value.data() + value.size() ||
                          kSpaces.find(*end) != std::string_view::npos || *end == '\0';
  return terminated ? std::optional(number) : std::nullopt;
}

std::string format_number(uint64_t number, size_t min_length) {
  std::string text = std::to_string(number);
  text.resize(std::max(text.size(), min_length), ' ');
  return text;
}

}  // namespace pmcached::engine
