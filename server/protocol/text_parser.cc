#include "server/protocol/text_parser.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>

#include "server/protocol/limits.h"
#include "server/protocol/text_number.h"
#include "server/protocol/text_reply.h"
#include "server/protocol/text_tokens.h"

namespace pmcached::server {
namespace {

/// The words of a line behind its verb, for the commands with a fixed number of them.
class Arguments {
 public:
  explicit Arguments(TokenCursor cursor) {
    for (std::string_view word = cursor.next(); !word.empty() && count_ < words_.size();
         word = cursor.next()) {
      words_[count_++] = word;
    }
  }

  /// Their number; one more than any command takes stands for that many or more.
  size_t count() const { return count_; }
  /// The word at `index`; empty past the end.
  std::string_view operator[](size_t index) const { return words_[index]; }
  bool ends_with_noreply() const { return count_ != 0 && words_[count_ - 1] == "noreply"; }

 private:
  static constexpr size_t kMostTaken = 6;  // cas: key, flags, exptime, length, cas, noreply
  std::array<std::string_view, kMostTaken + 1> words_;
  size_t count_ = 0;
};

MalformedRequest refuse(std::string_view reply, bool noreply = false) {
  return {reply, noreply};
}

bool is_key(std::string_view word) {
  return word.size() <= kMaxKeyBytes;
}

/// A number in at most 32 bits. memcached takes the low half of larger ones; a value that the
/// client did not send is worse than a refusal.
std::optional<uint32_t> parse_u32(std::string_view word) {
  const std::optional<uint64_t> number = parse_unsigned(word);
  if (!number.has_value() || *number > std::numeric_limits<uint32_t>::max()) {
    return std::nullopt;
  }
  return static_cast<uint32_t>(*number);
}

TextRequest parse_retrieval(TokenCursor cursor, bool with_cas, bool touch) {
  RetrievalRequest request{.keys = cursor.rest(), .with_cas = with_cas, .touch = touch};
  const std::string_view first = cursor.next();
  if (first.empty()) {
    return refuse(kErrorReply);
  }
  if (touch) {
    const std::optional<int64_t> exptime = parse_signed(first);
    if (!exptime.has_value()) {
      return refuse(kBadExptimeReply);
    }
    request.exptime = *exptime;
    request.keys = cursor.rest();
  }
  return request;
}

TextRequest parse_storage(TokenCursor cursor, StoreCommand command) {
  const Arguments words(cursor);
  const size_t wanted = command == StoreCommand::kCas ? 5 : 4;
  if (words.count() != wanted && words.count() != wanted + 1) {
    return refuse(kErrorReply);
  }
  StorageRequest request{.command = command, .noreply = words.ends_with_noreply(), .key = words[0]};
  const std::optional<uint32_t> client_flags = parse_u32(words[1]);
  const std::optional<int64_t> exptime = parse_signed(words[2]);
  const std::optional<uint32_t> length = parse_u32(words[3]);
  const std::optional<uint64_t> cas =
      command == StoreCommand::kCas ? parse_unsigned(words[4]) : uint64_t{0};
  if (!is_key(request.key) || !client_flags || !exptime || !length || !cas ||
      *length > kMaxValueBytes) {
    return refuse(kBadFormatReply, request.noreply);
  }
  request.client_flags = *client_flags;
  request.length = *length;
  request.exptime = *exptime;
  request.cas = *cas;
  return request;
}

TextRequest parse_arithmetic(TokenCursor cursor, bool increment) {
  const Arguments words(cursor);
  if (words.count() != 2 && words.count() != 3) {
    return refuse(kErrorReply);
  }
  const bool noreply = words.ends_with_noreply();
  if (!is_key(words[0])) {
    return refuse(kBadFormatReply, noreply);
  }
  const std::optional<uint64_t> delta = parse_unsigned(words[1]);
  if (!delta.has_value()) {
    return refuse(kBadDeltaReply, noreply);
  }
  return ArithmeticRequest{words[0], *delta, increment, noreply};
}

TextRequest parse_touch(TokenCursor cursor) {
  const Arguments words(cursor);
  if (words.count() != 2 && words.count() != 3) {
    return refuse(kErrorReply);
  }
  const bool noreply = words.ends_with_noreply();
  if (!is_key(words[0])) {
    return refuse(kBadFormatReply, noreply);
  }
  const std::optional<int64_t> exptime = parse_signed(words[1]);
  if (!exptime.has_value()) {
    return refuse(kBadExptimeReply, noreply);
  }
  return TouchRequest{words[0], *exptime, noreply};
}

/// Ancient clients send a delay of 0, which is taken; other delays are not.
TextRequest parse_delete(TokenCursor cursor) {
  const Arguments words(cursor);
  if (words.count() < 1 || words.count() > 3) {
    return refuse(kErrorReply);
  }
  const bool noreply = words.count() > 1 && words.ends_with_noreply();
  const bool zero_delay = words[1] == "0";
  const bool valid = words.count() == 1 || (words.count() == 2 && (zero_delay || noreply)) ||
                     (zero_delay && noreply);
  if (!valid) {
    return refuse(kDeleteUsageReply, noreply);
  }
  if (!is_key(words[0])) {
    return refuse(kBadFormatReply, noreply);
  }
  return DeleteRequest{words[0], noreply};
}

TextRequest parse_flush_all(TokenCursor cursor) {
  const Arguments words(cursor);
  if (words.count() > 2) {
    return refuse(kErrorReply);
  }
  FlushAllRequest request{.noreply = words.ends_with_noreply()};
  if (words.count() != (request.noreply ? 1U : 0U)) {
    const std::optional<int64_t> delay = parse_signed(words[0]);
    request.malformed = !delay.has_value();
    request.delay = delay.value_or(0);
  }
  return request;
}

TextRequest parse_verbosity(TokenCursor cursor) {
  const Arguments words(cursor);
  if (words.count() != 1 && words.count() != 2) {
    return refuse(kErrorReply);
  }
  const bool noreply = words.ends_with_noreply();
  const std::optional<uint32_t> level = parse_u32(words[0]);
  if (!level.has_value()) {
    return refuse(kBadFormatReply, noreply);
  }
  return VerbosityRequest{*level, noreply};
}

TextRequest parse_shutdown(TokenCursor cursor) {
  const Arguments words(cursor);
  if (words.count() == 0) {
    return ShutdownRequest{ShutdownRequest::Mode::kAtOnce};
  }
  const bool graceful = words.count() == 1 && words[0] == "graceful";
  return ShutdownRequest{graceful ? ShutdownRequest::Mode::kGraceful
                                  : ShutdownRequest::Mode::kUnknown};
}

TextRequest parse_stats(TokenCursor cursor) {
  const std::string_view subcommand = cursor.next();
  return StatsRequest{subcommand, cursor.next()};
}

struct Command {
  std::string_view verb;
  TextRequest (*parse)(TokenCursor);
};

/// Most frequent first.
constexpr std::array kCommands{
    Command{"get", [](TokenCursor c) { return parse_retrieval(c, false, false); }},
    Command{"set", [](TokenCursor c) { return parse_storage(c, StoreCommand::kSet); }},
    Command{"gets", [](TokenCursor c) { return parse_retrieval(c, true, false); }},
    Command{"delete", parse_delete},
    Command{"incr", [](TokenCursor c) { return parse_arithmetic(c, true); }},
    Command{"decr", [](TokenCursor c) { return parse_arithmetic(c, false); }},
    Command{"add", [](TokenCursor c) { return parse_storage(c, StoreCommand::kAdd); }},
    Command{"cas", [](TokenCursor c) { return parse_storage(c, StoreCommand::kCas); }},
    Command{"touch", parse_touch},
    Command{"gat", [](TokenCursor c) { return parse_retrieval(c, false, true); }},
    Command{"gats", [](TokenCursor c) { return parse_retrieval(c, true, true); }},
    Command{"replace", [](TokenCursor c) { return parse_storage(c, StoreCommand::kReplace); }},
    Command{"append", [](TokenCursor c) { return parse_storage(c, StoreCommand::kAppend); }},
    Command{"prepend", [](TokenCursor c) { return parse_storage(c, StoreCommand::kPrepend); }},
    Command{"stats", parse_stats},
    Command{"version", [](TokenCursor) -> TextRequest { return VersionRequest{}; }},
    Command{"flush_all", parse_flush_all},
    Command{"verbosity", parse_verbosity},
    Command{"quit", [](TokenCursor) -> TextRequest { return QuitRequest{}; }},
    Command{"shutdown", parse_shutdown},
    // An alias of get from memcached's first years, which clients of that age still send.
    Command{"bget", [](TokenCursor c) { return parse_retrieval(c, false, false); }},
};

/// memcached looks for HTTP only where the verb's first letter is none of those that it decides by.
TextRequest parse_unknown(std::string_view verb, TokenCursor cursor) {
  constexpr std::string_view kDecisiveLetters = "gsacidt";
  if (verb.size() < 2 || kDecisiveLetters.find(verb.front()) != std::string_view::npos) {
    return refuse(kErrorReply);
  }
  std::string_view last = verb;
  size_t tokens = 1;
  for (std::string_view word = cursor.next(); !word.empty() && tokens < kMaxTokens;
       word = cursor.next(), ++tokens) {
    last = word;
  }
  return last.starts_with("HTTP/") ? TextRequest(HttpRequest{}) : refuse(kErrorReply);
}

}  // namespace

TextRequest parse_text_request(std::string_view line) {
  // memcached reads the line as a C string.
  line = line.substr(0, line.find('\0'));
  TokenCursor cursor(line);
  const std::string_view verb = cursor.next();
  const auto* const command = std::find_if(kCommands.begin(), kCommands.end(),
                                           [verb](const Command& c) { return c.verb == verb; });
  return command == kCommands.end() ? parse_unknown(verb, cursor) : command->parse(cursor);
}

}  // namespace pmcached::server
