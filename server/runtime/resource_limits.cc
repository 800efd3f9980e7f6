#include "server/runtime/resource_limits.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace pmcached::server {

std::optional<ExitReason> raise_descriptor_limit(uint64_t count) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    if (limit.rlim_cur >= count) {
      return std::nullopt;
    }
    limit.rlim_cur = count;
    limit.rlim_max = std::max<rlim_t>(limit.rlim_max, count);
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0) {
      return std::nullopt;
    }
  }
  return ExitReason{EX_OSERR,
                    fmt::format("failed to raise the limit on open files to {}: {}; start as root "
                                "or ask for fewer connections (-c)",
                                count, std::generic_category().message(errno))};
}

std::optional<ExitReason> raise_core_limit() {
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  if (setrlimit(RLIMIT_CORE, &limit) != 0 && getrlimit(RLIMIT_CORE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_CORE, &limit);
  }
  if (getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_cur == 0) {
    return ExitReason{EX_OSERR, "failed to ensure core files (-r): their limit is 0"};
  }
  return std::nullopt;
}

void stay_dumpable() {
  prctl(PR_SET_DUMPABLE, 1);
}

void lift_memory_lock_limit() {
  const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_MEMLOCK, &limit);
}

void lock_memory() {
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    spdlog::warn("-k has no effect: memory cannot be locked: {}",
                 std::generic_category().message(errno));
  }
}

}  // namespace pmcached::server
