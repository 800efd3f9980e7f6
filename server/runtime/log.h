#pragma once

namespace pmcached::server {

/// Sends the log to standard error. At verbosity 0 it tells what the operator has to know (start,
/// recovery, stop, warnings), at 1 also why clients were refused or lost, at 2 each connection.
void start_logging(int verbosity);

/// Thread safety: any thread.
void set_log_verbosity(int verbosity);

}  // namespace pmcached::server
