#include "server/runtime/pid_file.h"

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>
#include <utility>

namespace pmcached::server {
namespace {

/// The process ID in a file, 0 if there is none.
pid_t read_pid(const std::string& path) {
  pid_t pid = 0;
  std::ifstream(path) >> pid;
  return pid;
}

bool write_pid(const std::string& path) {
  const std::string temporary = path + ".tmp";
  std::ofstream file(temporary, std::ios::trunc);
  file << getpid() << '\n';
  file.close();
  return file.good() && std::rename(temporary.c_str(), path.c_str()) == 0;
}

}  // namespace

PidFile::PidFile(std::string path) : path_(std::move(path)) {
  if (path_.empty()) {
    return;
  }
  const pid_t other = read_pid(path_);
  if (other > 0 && other != getpid() && kill(other, 0) == 0) {
    spdlog::warn("the pid file {} named process {}, which is running", path_, other);
  }
  if (!write_pid(path_)) {
    spdlog::warn("could not write the pid file {}: {}", path_,
                 std::generic_category().message(errno));
    path_.clear();
  }
}

PidFile::~PidFile() {
  if (!path_.empty() && read_pid(path_) == getpid() && unlink(path_.c_str()) != 0) {
    spdlog::warn("could not remove the pid file {}: {}", path_,
                 std::generic_category().message(errno));
  }
}

}  // namespace pmcached::server
