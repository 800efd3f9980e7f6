#include "server/protocol/text_reply.h"

#include <charconv>
#include <cstring>

namespace pmcached::server {
namespace {

char* write_bytes(char* to, std::string_view bytes) {
  std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

}  // namespace

char* write_number(char* to, uint64_t number) {
  return std::to_chars(to, to + kMaxNumberBytes, number).ptr;
}

char* write_value_line(char* to, std::string_view key, uint64_t client_flags, uint32_t length,
                       std::optional<uint64_t> cas) {
  to = write_bytes(to, "VALUE ");
  to = write_bytes(to, key);
  *to++ = ' ';
  to = write_number(to, client_flags);
  *to++ = ' ';
  to = write_number(to, length);
  if (cas.has_value()) {
    *to++ = ' ';
    to = write_number(to, *cas);
  }
  return write_bytes(to, kLineEnd);
}

}  // namespace pmcached::server
