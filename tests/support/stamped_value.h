#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace pmcached::tests {

/// Which store a value came from.
struct Stamp {
  uint32_t writer = 0;
  uint64_t sequence = 0;

  friend bool operator==(const Stamp&, const Stamp&) = default;
};

namespace detail {

/// The bytes behind a value's head: a stream of words that depends on every part of the head.
class Filler {
 public:
  explicit Filler(std::string_view head) : state_(std::hash<std::string_view>{}(head)) {}

  uint64_t next() {  // splitmix64
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

inline std::string head_of(std::string_view key, const Stamp& stamp, size_t size) {
  std::string head(key);
  for (const uint64_t number : {uint64_t{stamp.writer}, stamp.sequence, uint64_t{size}}) {
    head += '#' + std::to_string(number);
  }
  return head + '#';
}

}  // namespace detail

/// A value of `size` bytes (or a little more, if that is less than its head takes) that says of
/// which key and store it is, and whose every byte follows from that: torn, mixed or foreign bytes
/// show.
inline std::string stamped_value(std::string_view key, const Stamp& stamp, size_t size) {
  std::string value = detail::head_of(key, stamp, size);
  detail::Filler filler(value);
  size_t at = value.size();
  value.resize(std::max(value.size(), size));
  while (at < value.size()) {
    const uint64_t word = filler.next();
    const size_t part = std::min(sizeof word, value.size() - at);
    std::memcpy(value.data() + at, &word, part);
    at += part;
  }
  return value;
}

/// The stamp of a value made for `key`; nothing if it is not, byte for byte, such a value.
inline std::optional<Stamp> read_stamp(std::string_view key, std::string_view value) {
  std::string_view rest = value;
  if (!rest.starts_with(key)) {
    return std::nullopt;
  }
  rest.remove_prefix(key.size());
  uint64_t numbers[3] = {};
  for (uint64_t& number : numbers) {
    if (rest.empty() || rest.front() != '#') {
      return std::nullopt;
    }
    const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), number);
    if (error != std::errc{}) {
      return std::nullopt;
    }
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  }
  const Stamp stamp{.writer = static_cast<uint32_t>(numbers[0]), .sequence = numbers[1]};
  if (value != stamped_value(key, stamp, numbers[2])) {
    return std::nullopt;
  }
  return stamp;
}

}  // namespace pmcached::tests
