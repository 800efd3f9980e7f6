#include "server/protocol/text_number.h"

#include <charconv>
#include <system_error>

namespace pmcached::server {
namespace {

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

template <typename Number>
std::optional<Number> parse(std::string_view digits) {
  Number number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped_at, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc() || (stopped_at != end && !is_space(*stopped_at))) {
    return std::nullopt;
  }
  return number;
}

std::string_view skip_spaces(std::string_view word) {
  while (!word.empty() && is_space(word.front())) {
    word.remove_prefix(1);
  }
  return word;
}

/// Drops the plus sign, which from_chars does not take; "+-5" stays no number.
std::string_view skip_plus(std::string_view word) {
  const bool is_plus_number = word.size() > 1 && word[0] == '+' && word[1] != '-';
  return is_plus_number ? word.substr(1) : word;
}

}  // namespace

std::optional<uint64_t> parse_unsigned(std::string_view word) {
  word = skip_plus(skip_spaces(word));
  if (!word.empty() && word.front() == '-') {
    const std::optional<uint64_t> magnitude = parse<uint64_t>(word.substr(1));
    return magnitude == uint64_t{0} ? magnitude : std::nullopt;
  }
  return parse<uint64_t>(word);
}

std::optional<int64_t> parse_signed(std::string_view word) {
  return parse<int64_t>(skip_plus(skip_spaces(word)));
}

}  // namespace pmcached::server
