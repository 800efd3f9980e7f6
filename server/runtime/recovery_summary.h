#pragma once

#include <string>

#include "engine/stats.h"
#include "pmem/region.h"

namespace pmcached::server {

/// One line for the log: how much came back, after what, in what time, and what did not.
std::string summarize_recovery(pmem::LastRun last_run, const engine::RecoveryReport& report);

/// How the last run ended, as `stats settings` says it: "none", "clean", "crash", "power loss".
std::string name_of(pmem::LastRun last_run);

}  // namespace pmcached::server
