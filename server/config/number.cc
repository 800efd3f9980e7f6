#include "server/config/number.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace pmcached::server {
namespace {

/// What std::from_chars makes of the whole of `text`.
template <typename Number, typename... Base>
std::optional<Number> parse(std::string_view text, Base... base) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base...);
  if (error != std::errc{} || stop != end) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

std::optional<int64_t> parse_integer(std::string_view text, int64_t min, int64_t max) {
  const auto number = parse<int64_t>(text);
  return number && *number >= min && *number <= max ? number : std::nullopt;
}

std::optional<double> parse_decimal(std::string_view text) {
  const auto number = parse<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<uint32_t> parse_file_mode(std::string_view text) {
  const auto mode = parse<uint32_t>(text, 8);
  return mode && *mode <= 0777 ? mode : std::nullopt;
}

std::optional<uint64_t> parse_size(std::string_view text) {
  unsigned shift = 0;
  if (!text.empty()) {
    switch (text.back()) {
      case 'k':
      case 'K':
        shift = 10;
        break;
      case 'm':
      case 'M':
        shift = 20;
        break;
      case 'g':
      case 'G':
        shift = 30;
        break;
      default:
        break;
    }
  }
  if (shift != 0) {
    text.remove_suffix(1);
  }
  const auto number = parse<uint64_t>(text);
  if (!number || *number > (std::numeric_limits<uint64_t>::max() >> shift)) {
    return std::nullopt;
  }
  return *number << shift;
}

}  // namespace pmcached::server
