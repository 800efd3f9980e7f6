#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

/// The requests of the classic text protocol. Each is what its command line says, no more: keys and
/// words point into the line, times are as the client wrote them. `noreply` suppresses the reply,
/// refusals included.
namespace pmcached::server {

/// get, gets, gat, gats.
struct RetrievalRequest {
  std::string_view keys;  ///< the rest of the line; TokenCursor walks it; lengths not checked yet
  bool with_cas = false;
  bool touch = false;  ///< gat, gats: gives each item found a new `exptime`
  int64_t exptime = 0;
};

enum class StoreCommand : uint8_t { kSet, kAdd, kReplace, kAppend, kPrepend, kCas };

/// set, add, replace, append, prepend, cas. `length` bytes and a line end follow the line.
struct StorageRequest {
  StoreCommand command = StoreCommand::kSet;
  bool noreply = false;
  std::string_view key;
  uint32_t client_flags = 0;
  uint32_t length = 0;
  int64_t exptime = 0;
  uint64_t cas = 0;
};

/// incr, decr.
struct ArithmeticRequest {
  std::string_view key;
  uint64_t delta = 0;
  bool increment = false;
  bool noreply = false;
};

struct DeleteRequest {
  std::string_view key;
  bool noreply = false;
};

struct TouchRequest {
  std::string_view key;
  int64_t exptime = 0;
  bool noreply = false;
};

struct FlushAllRequest {
  int64_t delay = 0;  ///< seconds, or an absolute time as with exptime
  /// The delay is no number. Not refused by the parser, since "flush_all is not allowed" goes
  /// first.
  bool malformed = false;
  bool noreply = false;
};

struct VersionRequest {};

struct VerbosityRequest {
  uint32_t level = 0;
  bool noreply = false;
};

struct StatsRequest {
  std::string_view subcommand;  ///< empty = general statistics
  std::string_view argument;
};

struct ShutdownRequest {
  enum class Mode : uint8_t { kAtOnce, kGraceful, kUnknown };
  Mode mode = Mode::kAtOnce;
};

struct QuitRequest {};

/// A line that is no request, with the reply it gets.
struct MalformedRequest {
  std::string_view reply;  ///< with its line end; a constant
  bool noreply = false;
};

/// The client speaks HTTP: to be disconnected without a word, as memcached does.
struct HttpRequest {};

using TextRequest =
    std::variant<RetrievalRequest, StorageRequest, ArithmeticRequest, DeleteRequest, TouchRequest,
                 FlushAllRequest, VersionRequest, VerbosityRequest, StatsRequest, ShutdownRequest,
                 QuitRequest, MalformedRequest, HttpRequest>;

}  // namespace pmcached::server
