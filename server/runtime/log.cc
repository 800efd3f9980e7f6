#include "server/runtime/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace pmcached::server {

void start_logging(int verbosity) {
  auto logger = spdlog::stderr_logger_mt("pmcached");
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %l: %v");
  spdlog::set_default_logger(std::move(logger));
  set_log_verbosity(verbosity);
}

void set_log_verbosity(int verbosity) {
  spdlog::set_level(verbosity <= 0   ? spdlog::level::info
                    : verbosity == 1 ? spdlog::level::debug
                                     : spdlog::level::trace);
}

}  // namespace pmcached::server
