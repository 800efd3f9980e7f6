#pragma once

#include <string>

namespace pmcached::server {

/// The file that tells others the server's process ID (-P), removed at the end.
///
/// Thread safety: used by the main thread only. Failure: a file that cannot be written is logged;
/// the server does not need it.
class PidFile {
 public:
  /// Writes the file, in place of an earlier one; warns if a process named in that still runs. No
  /// path: does nothing.
  explicit PidFile(std::string path);
  /// Removes the file, unless it names another process by now.
  ~PidFile();
  PidFile(const PidFile&) = delete;
  PidFile& operator=(const PidFile&) = delete;

 private:
  std::string path_;
};

}  // namespace pmcached::server
