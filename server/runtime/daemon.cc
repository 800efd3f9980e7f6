#include "server/runtime/daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace pmcached::server {
namespace {

ExitReason failure(const char* what) {
  return {EX_OSERR, fmt::format("failed to become a daemon: {}: {}", what,
                                std::generic_category().message(errno))};
}

/// Waits in the starting process for the daemon's word or its end; returns the exit code.
int wait_for_daemon(int ready, pid_t daemon) {
  char word = 0;
  ssize_t received = 0;
  do {
    received = read(ready, &word, sizeof(word));
  } while (received < 0 && errno == EINTR);
  if (received == sizeof(word)) {
    return EX_OK;
  }
  int status = 0;
  while (waitpid(daemon, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EX_SOFTWARE;
}

void redirect_to_null(std::initializer_list<int> descriptors) {
  const pmem::FileDescriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int descriptor : descriptors) {
    if (null.valid()) {
      dup2(null.get(), descriptor);
    }
  }
}

}  // namespace

std::optional<ExitReason> Daemon::detach(bool keep_directory, std::unique_ptr<Daemon>* daemon) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return failure("pipe");
  }
  pmem::FileDescriptor reading(ends[0]);
  pmem::FileDescriptor writing(ends[1]);
  const pid_t child = fork();
  if (child < 0) {
    return failure("fork");
  }
  if (child > 0) {
    writing = {};
    _exit(wait_for_daemon(reading.get(), child));
  }
  if (setsid() < 0) {
    return failure("setsid");
  }
  if (!keep_directory && chdir("/") != 0) {
    return failure("chdir");
  }
  redirect_to_null({STDIN_FILENO});
  daemon->reset(new Daemon(std::move(writing)));
  return std::nullopt;
}

void Daemon::report_ready(bool keep_output) {
  if (!keep_output) {
    redirect_to_null({STDOUT_FILENO, STDERR_FILENO});
  }
  const char word = 1;
  // Should the starting process be gone, nobody wants to know.
  [[maybe_unused]] const ssize_t ignored = write(ready_.get(), &word, sizeof(word));
  ready_ = {};
}

void make_paths_absolute(Options* options) {
  for (std::string* path :
       {&options->memory_file, &options->pid_file, &options->unix_socket, &options->port_file}) {
    if (!path->empty()) {
      *path = std::filesystem::absolute(*path).string();
    }
  }
}

}  // namespace pmcached::server
