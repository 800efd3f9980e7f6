#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "server/commands/reply_buffer.h"
#include "server/protocol/text_reply.h"

namespace pmcached::server {

/// Writes the lines of a `stats` reply: "STAT <name> <value>".
/// Ownership: borrows the reply buffer.
class StatLines {
 public:
  explicit StatLines(ReplyBuffer& replies) : replies_(replies) {}

  /// Numbers and words as fmt prints them; truth values by memcached's "yes" and "no".
  template <typename Value>
  void add(std::string_view name, const Value& value) {
    line("STAT {} {}\r\n", name, value);
  }
  void add(std::string_view name, bool value) { add(name, value ? "yes" : "no"); }
  /// A text that memcached prints as a word of its own where there is none.
  void add_or(std::string_view name, std::string_view text, std::string_view none) {
    add(name, text.empty() ? none : text);
  }
  /// A value of one of many: "STAT <group><number>:<name> <value>".
  template <typename Value>
  void add_of(std::string_view group, uint64_t number, std::string_view name, const Value& value) {
    line("STAT {}{}:{} {}\r\n", group, number, name, value);
  }
  void end() { replies_.append(kEndReply); }

 private:
  template <typename... Values>
  void line(fmt::format_string<const Values&...> format, const Values&... values) {
    buffer_.clear();
    fmt::format_to(fmt::appender(buffer_), format, values...);
    replies_.append({buffer_.data(), buffer_.size()});
  }

  ReplyBuffer& replies_;
  fmt::memory_buffer buffer_;
};

}  // namespace pmcached::server
