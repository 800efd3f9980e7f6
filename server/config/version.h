#pragma once

#include <string_view>

namespace pmcached::server {

/// The program's version, such as "0.1.0".
std::string_view program_version();

/// What -i prints: the libraries in use and their licences.
std::string_view license_text();

}  // namespace pmcached::server
