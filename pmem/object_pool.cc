#include "pmem/object_pool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "pmem/pool_file.h"
#include "pmem/pool_layout.h"

namespace pmcached::pmem {
namespace {

// libpmemobj's creation refuses a file that exists; nobody but the owner may read a cache.
constexpr mode_t kPoolFileMode = 0600;
// Opening takes milliseconds. A damaged log may also make it loop.
constexpr unsigned kTrialSeconds = 60;

Status damaged_metadata(const std::string& path, const std::string& how) {
  return {Status::Code::kCorrupt,
          fmt::format("libpmemobj's metadata in pool {} is damaged ({}); restore it from a copy, "
                      "or delete it to start with an empty cache",
                      path, how)};
}

/// The child's part of try_object_pool(): never returns.
[[noreturn]] void open_and_exit(const std::string& path) {
  // What a dying child has to say is the parent's to say.
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDERR_FILENO);
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}) {
    std::signal(signal, SIG_DFL);
  }
  alarm(kTrialSeconds);
  ObjectPool pool(pmemobj_open(path.c_str(), kLayoutName));
  const bool opened = pool != nullptr;
  pool.reset();
  _exit(opened ? 0 : 1);
}

}  // namespace

Status create_object_pool(const std::string& path, uint64_t bytes, ObjectPool* pool) {
  pool->reset(pmemobj_create(path.c_str(), kLayoutName, bytes, kPoolFileMode));
  if (*pool) return {};
  const Status::Code code = errno == ENOSPC ? Status::Code::kNoSpace : Status::Code::kIo;
  return {code, fmt::format("cannot create pool {} of {} MiB: {}", path, bytes >> 20,
                            pmemobj_errormsg())};
}

Status open_object_pool(const std::string& path, ObjectPool* pool) {
  pool->reset(pmemobj_open(path.c_str(), kLayoutName));
  if (*pool) return {};
  switch (errno) {
    case EWOULDBLOCK:
      return in_use_by_another_server(path);
    case EACCES:
    case ENOENT:
    case ENOMEM:
    case EMFILE:
      return {Status::Code::kIo, fmt::format("cannot open pool {}: {}", path, pmemobj_errormsg())};
    default:
      return damaged_metadata(path, pmemobj_errormsg());
  }
}

Status try_object_pool(const std::string& path) {
  const pid_t child = fork();
  if (child < 0) {
    return {Status::Code::kIo, fmt::format("cannot start a process to try pool {} in: {}", path,
                                           std::strerror(errno))};
  }
  if (child == 0) open_and_exit(path);
  int how = 0;
  while (waitpid(child, &how, 0) < 0) {
    if (errno != EINTR) return damaged_metadata(path, "and how badly cannot be found out");
  }
  if (WIFSIGNALED(how)) {
    return damaged_metadata(path, fmt::format("opening it died of signal {}: {}", WTERMSIG(how),
                                              strsignal(WTERMSIG(how))));
  }
  if (WEXITSTATUS(how) != 0) return damaged_metadata(path, "libpmemobj refuses it");
  return {};
}

}  // namespace pmcached::pmem
