#pragma once

#include <variant>

#include "server/config/exit_reason.h"
#include "server/config/options.h"

namespace pmcached::server {

/// Reads the command line and the environment. Returns the options, or why the process should end:
/// a request such as -h or -V, or a value that cannot be.
///
/// Thread safety: none needed; called once, before there are threads.
std::variant<Options, ExitReason> parse_command_line(int argc, const char* const* argv);

}  // namespace pmcached::server
