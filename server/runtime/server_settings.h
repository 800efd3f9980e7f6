#pragma once

#include <cstdint>
#include <vector>

#include "pmem/region.h"
#include "pmem/status.h"
#include "server/commands/settings.h"
#include "server/config/options.h"
#include "server/net/listening_socket.h"

namespace pmcached::server {

/// Takes the addresses that the options name: those of -l, or all, or the UNIX socket.
Status bind_sockets(const Options& options, std::vector<ListeningSocket>* sockets);

/// What the commands need to know of options, sockets and region.
ServerSettings make_settings(const Options& options, const std::vector<ListeningSocket>& sockets,
                             const pmem::Region& region);

}  // namespace pmcached::server
