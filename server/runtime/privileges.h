#pragma once

#include <optional>
#include <string>

#include "server/config/exit_reason.h"

namespace pmcached::server {

/// Started as root: becomes `user` for good, with the groups of that user; refuses if none is
/// named, as memcached does. Started by anybody else: does nothing. To be called before anything is
/// created, so that pool, sockets and pid file belong to the user.
std::optional<ExitReason> drop_privileges(const std::string& user);

}  // namespace pmcached::server
