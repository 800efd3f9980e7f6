#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pmcached::server {

/// A decimal number as memcached reads it from a word of a command line: white space in front (a
/// word may hold tabs), a sign, digits; then the end or white space and anything. Nothing if the
/// word does not begin so, or if the number does not fit the type; for unsigned numbers nothing
/// below zero fits. Thread safety: pure functions.
std::optional<uint64_t> parse_unsigned(std::string_view word);
std::optional<int64_t> parse_signed(std::string_view word);

}  // namespace pmcached::server
