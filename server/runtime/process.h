#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "server/config/exit_reason.h"
#include "server/config/options.h"
#include "server/runtime/daemon.h"

namespace pmcached::server {

/// Makes this process what the options want: limits, user, daemon, locked memory. `descriptors` can
/// be open at a time afterwards. Sets `daemon` if it is to be one. To be called before there are
/// threads, files or sockets.
std::optional<ExitReason> prepare_process(const Options& options, uint64_t descriptors,
                                          std::unique_ptr<Daemon>* daemon);

}  // namespace pmcached::server
