#pragma once

#include <cstddef>
#include <string_view>

namespace pmcached::server {

/// The first line of some input, as far as it has arrived.
struct TextLine {
  enum class State {
    kComplete,
    kUnfinished,  ///< no line feed yet
    kHopeless,    ///< no line feed in more bytes than any command has: not a memcached client
  };
  State state = State::kUnfinished;
  std::string_view text;  ///< kComplete: the line without its end, "\n" or "\r\n"
  size_t size = 0;        ///< kComplete: bytes of the line with its end
};

/// Finds the first line of `input`, of which the first `searched` bytes are known to hold no line
/// feed. Thread safety: pure function. Ownership: the text points into the input.
TextLine find_line(std::string_view input, size_t searched = 0);

}  // namespace pmcached::server
