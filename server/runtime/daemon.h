#pragma once

#include <memory>
#include <optional>

#include "pmem/file_descriptor.h"
#include "server/config/exit_reason.h"
#include "server/config/options.h"

namespace pmcached::server {

/// A process that has left its terminal (-d).
///
/// Purpose: whoever starts the daemon learns whether it came up: the starting process stays until
/// clients can connect, and ends with the daemon's exit code if it fails before.
/// Thread safety: used by the main thread only, and made before there are others.
class Daemon {
 public:
  /// Goes on in a new process and session; the old process never returns. Changes to the root
  /// directory, unless core dumps are wanted, which belong into the present one.
  static std::optional<ExitReason> detach(bool keep_directory, std::unique_ptr<Daemon>* daemon);

  /// Releases the starting process. Standard output and error go to /dev/null from now on, unless
  /// they are to be kept.
  void report_ready(bool keep_output);

 private:
  explicit Daemon(pmem::FileDescriptor ready) : ready_(std::move(ready)) {}

  pmem::FileDescriptor ready_;  ///< the starting process waits at the other end
};

/// Makes the paths among the options independent of the present directory, which a daemon leaves.
void make_paths_absolute(Options* options);

}  // namespace pmcached::server
