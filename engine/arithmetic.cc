#include "engine/arithmetic.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>

namespace pmcached::engine {

std::optional<uint64_t> parse_number(std::string_view value) {
  // strtoull, as memcached, with its taste for signs and spaces; it wants a terminated string.
  const std::string text(value);
  char* end = nullptr;
  errno = 0;
  const uint64_t number = std::strtoull(text.c_str(), &end, 10);
  if (errno != 0 || end == text.c_str()) {
    return std::nullopt;
  }
  const std::string_view digits(text.data(), static_cast<size_t>(end - text.c_str()));
  const bool negative = digits.find('-') != std::string_view::npos;
  if (negative && static_cast<int64_t>(number) < 0) {
    return std::nullopt;
  }
  return *end == '\0' || std::isspace(static_cast<unsigned char>(*end)) != 0 ? std::optional(number)
                                                                             : std::nullopt;
}

std::string format_number(uint64_t number, size_t min_length) {
  std::string text = std::to_string(number);
  text.resize(std::max(text.size(), min_length), ' ');
  return text;
}

}  // namespace pmcached::engine
