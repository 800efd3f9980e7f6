#include "server/runtime/process.h"

#include "server/runtime/privileges.h"
#include "server/runtime/resource_limits.h"

namespace pmcached::server {

std::optional<ExitReason> prepare_process(const Options& options, uint64_t descriptors,
                                          std::unique_ptr<Daemon>* daemon) {
  // Limits first, while there may be the rights to raise them.
  if (auto failure = raise_descriptor_limit(descriptors)) {
    return failure;
  }
  if (options.core_dumps) {
    if (auto failure = raise_core_limit()) {
      return failure;
    }
  }
  if (options.lock_memory) {
    lift_memory_lock_limit();
  }
  if (auto failure = drop_privileges(options.user)) {
    return failure;
  }
  if (options.core_dumps) {
    stay_dumpable();
  }
  if (options.daemon) {
    if (auto failure = Daemon::detach(options.core_dumps, daemon)) {
      return failure;
    }
  }
  // Last, because a new process does not inherit the locks.
  if (options.lock_memory) {
    lock_memory();
  }
  return std::nullopt;
}

}  // namespace pmcached::server
