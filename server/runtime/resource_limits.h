#pragma once

#include <cstdint>
#include <optional>

#include "server/config/exit_reason.h"

namespace pmcached::server {

/// Sees to it that `count` file descriptors can be open at a time.
std::optional<ExitReason> raise_descriptor_limit(uint64_t count);

/// Raises the limit on core files as far as it goes (-r).
std::optional<ExitReason> raise_core_limit();

/// Lets the process write a core file although it has changed its user.
void stay_dumpable();

/// Lifts the limit on locked memory, which takes root, so that lock_memory() works for the user who
/// comes after.
void lift_memory_lock_limit();

/// Keeps all memory of the process, present and future, from being paged out (-k). As with
/// memcached, the server goes on with a warning if that fails.
void lock_memory();

}  // namespace pmcached::server
