#pragma once

#include <string_view>

#include "server/protocol/text_request.h"

namespace pmcached::server {

/// Reads one command line, given without its line end. Never fails: what is no request becomes a
/// MalformedRequest with memcached's reply.
/// Thread safety: pure function. Ownership: the request points into the line.
TextRequest parse_text_request(std::string_view line);

}  // namespace pmcached::server
