#include "server/runtime/privileges.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace pmcached::server {

std::optional<ExitReason> drop_privileges(const std::string& user) {
  if (getuid() != 0 && geteuid() != 0) {
    return std::nullopt;
  }
  if (user.empty()) {
    return ExitReason{EX_USAGE, "can't run as root without the -u switch"};
  }
  errno = 0;
  const passwd* const account = getpwnam(user.c_str());
  if (account == nullptr) {
    return ExitReason{EX_NOUSER, fmt::format("can't find the user {} to switch to", user)};
  }
  if (initgroups(account->pw_name, account->pw_gid) != 0 || setgid(account->pw_gid) != 0 ||
      setuid(account->pw_uid) != 0) {
    return ExitReason{EX_OSERR, fmt::format("failed to assume identity of user {}: {}", user,
                                            std::generic_category().message(errno))};
  }
  return std::nullopt;
}

}  // namespace pmcached::server
