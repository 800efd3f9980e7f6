#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/config/exit_reason.h"
#include "server/config/options.h"

namespace pmcached::server {

/// Applies the argument of one -o: suboptions separated by commas, "name" or "name=value" each.
/// Those of memcached that have no meaning here leave a remark. Returns what is wrong, if anything.
std::optional<ExitReason> apply_extended_options(std::string_view argument, Options* options);

/// The suboptions as -h lists them.
std::string extended_options_usage();

}  // namespace pmcached::server
