#pragma once

#include <sysexits.h>

#include <string>

#include "pmem/status.h"

namespace pmcached::server {

/// Why the process ends before it serves, or without serving.
struct ExitReason {
  int code = EX_OK;  ///< of the process: 0, 1, or one of sysexits.h, as memcached has them
  std::string text;  ///< for standard output if the code is 0, else for standard error
};

/// The reason for a start that failed with `status`. Precondition: !status.ok().
ExitReason exit_reason_of(const Status& status);

/// Prints the text, on a line of its own, to where it belongs; returns the code.
int leave(const ExitReason& reason);

}  // namespace pmcached::server
