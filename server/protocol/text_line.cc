#include "server/protocol/text_line.h"

#include "server/protocol/limits.h"

namespace pmcached::server {
namespace {

/// Whether more of a line that already is longer than commands are may be waited for.
bool may_grow(std::string_view unfinished) {
  const size_t start = unfinished.find_first_not_of(' ');
  if (start == std::string_view::npos || start > kMaxLeadingSpaces) {
    return false;
  }
  const std::string_view command = unfinished.substr(start);
  return (command.starts_with("get ") || command.starts_with("gets ")) &&
         unfinished.size() <= kMaxUnfinishedRetrieval;
}

}  // namespace

TextLine find_line(std::string_view input, size_t searched) {
  const size_t line_feed = input.find('\n', searched);
  if (line_feed == std::string_view::npos) {
    const bool hopeless = input.size() > kMaxUnfinishedLine && !may_grow(input);
    return {hopeless ? TextLine::State::kHopeless : TextLine::State::kUnfinished, {}, 0};
  }
  std::string_view text = input.substr(0, line_feed);
  if (text.ends_with('\r')) {
    text.remove_suffix(1);
  }
  return {TextLine::State::kComplete, text, line_feed + 1};
}

}  // namespace pmcached::server
