#pragma once

#include <cstddef>
#include <string_view>

namespace pmcached::server {

/// Walks the words of a command line. Words are separated by one or more spaces, and by spaces
/// alone: a tab belongs to its word.
///
/// Thread safety: like a value. Ownership: the words point into the line.
class TokenCursor {
 public:
  explicit TokenCursor(std::string_view line) : rest_(line) {}

  /// The next word; empty at the end of the line.
  std::string_view next() {
    size_t start = 0;
    while (start < rest_.size() && rest_[start] == ' ') {
      ++start;
    }
    rest_.remove_prefix(start);
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(word.size());
    return word;
  }

  /// What next() has not walked yet.
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

}  // namespace pmcached::server
