#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pmcached::server {

/// The whole of `text` as a decimal integer; nothing if it is none or outside of [min, max].
std::optional<int64_t> parse_integer(std::string_view text, int64_t min, int64_t max);

/// The whole of `text` as a decimal number such as "1.25"; nothing if it is none.
std::optional<double> parse_decimal(std::string_view text);

/// The whole of `text` as an octal file mode, 0 to 777.
std::optional<uint32_t> parse_file_mode(std::string_view text);

/// A number of bytes with an optional suffix k, m or g (of 1024) in either case.
std::optional<uint64_t> parse_size(std::string_view text);

}  // namespace pmcached::server
