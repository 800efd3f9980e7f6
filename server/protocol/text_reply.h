#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "server/protocol/limits.h"

/// The reply lines of the classic text protocol, each with its line end.
namespace pmcached::server {

inline constexpr std::string_view kLineEnd = "\r\n";
inline constexpr std::string_view kEndReply = "END\r\n";
inline constexpr std::string_view kOkReply = "OK\r\n";
inline constexpr std::string_view kResetReply = "RESET\r\n";
inline constexpr std::string_view kStoredReply = "STORED\r\n";
inline constexpr std::string_view kNotStoredReply = "NOT_STORED\r\n";
inline constexpr std::string_view kExistsReply = "EXISTS\r\n";
inline constexpr std::string_view kNotFoundReply = "NOT_FOUND\r\n";
inline constexpr std::string_view kDeletedReply = "DELETED\r\n";
inline constexpr std::string_view kTouchedReply = "TOUCHED\r\n";

inline constexpr std::string_view kErrorReply = "ERROR\r\n";
inline constexpr std::string_view kBadFormatReply = "CLIENT_ERROR bad command line format\r\n";
inline constexpr std::string_view kBadLineReply = "CLIENT_ERROR bad command line\r\n";
inline constexpr std::string_view kBadChunkReply = "CLIENT_ERROR bad data chunk\r\n";
inline constexpr std::string_view kBadExptimeReply = "CLIENT_ERROR invalid exptime argument\r\n";
inline constexpr std::string_view kBadDeltaReply =
    "CLIENT_ERROR invalid numeric delta argument\r\n";
inline constexpr std::string_view kNotNumericReply =
    "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";
inline constexpr std::string_view kDeleteUsageReply =
    "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\n";
inline constexpr std::string_view kDetailUsageReply =
    "CLIENT_ERROR usage: stats detail on|off|dump\r\n";
inline constexpr std::string_view kNoDumpReply = "CLIENT_ERROR stats cachedump not allowed\r\n";
inline constexpr std::string_view kNoFlushReply = "CLIENT_ERROR flush_all not allowed\r\n";
inline constexpr std::string_view kNoShutdownReply = "ERROR: shutdown not enabled\r\n";
inline constexpr std::string_view kBadShutdownReply = "CLIENT_ERROR invalid shutdown mode\r\n";
inline constexpr std::string_view kTooLargeReply = "SERVER_ERROR object too large for cache\r\n";
inline constexpr std::string_view kStoreMemoryReply =
    "SERVER_ERROR out of memory storing object\r\n";
inline constexpr std::string_view kMemoryReply = "SERVER_ERROR out of memory\r\n";

inline constexpr size_t kMaxNumberBytes = 20;

/// Writes a number in decimal to `to`, which has room for kMaxNumberBytes; returns the end.
char* write_number(char* to, uint64_t number);

/// Longest "VALUE <key> <flags> <length> <cas>\r\n".
inline constexpr size_t kMaxValueLine = 6 + kMaxKeyBytes + 3 * (1 + kMaxNumberBytes) + 2;

/// Writes the line in front of a value to `to`, which has room for kMaxValueLine; returns the end.
/// Without `cas`, the line ends behind the length. Precondition: key.size() <= kMaxKeyBytes.
char* write_value_line(char* to, std::string_view key, uint64_t client_flags, uint32_t length,
                       std::optional<uint64_t> cas);

}  // namespace pmcached::server
