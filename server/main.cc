#include <event2/event.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "server/commands/server_context.h"
#include "server/config/command_line.h"
#include "server/config/version.h"
#include "server/net/server.h"
#include "server/runtime/daemon.h"
#include "server/runtime/log.h"
#include "server/runtime/pid_file.h"
#include "server/runtime/process.h"
#include "server/runtime/server_settings.h"
#include "server/runtime/stop_signals.h"
#include "server/runtime/storage.h"

namespace pmcached::server {
namespace {

/// What a graceful stop gives to clients who do not read their replies.
constexpr auto kGracefulPatience = std::chrono::seconds(5);

void on_second(int /*descriptor*/, short /*what*/, void* cache) {
  static_cast<engine::Cache*>(cache)->tick();
}

/// Serves until a signal says stop.
Status serve(const Options& options, std::vector<ListeningSocket> sockets, Storage& storage,
             Daemon* daemon) {
  const ServerSettings settings = make_settings(options, sockets, storage.region());
  ServerContext context{
      .cache = storage.cache(),
      .settings = settings,
      .version = std::string(program_version()),
      .libevent_version = event_get_version(),
      .pid = getpid(),
      .request_shutdown = &StopSignals::request,
      .set_verbosity = &set_log_verbosity,
      // The server sets those that are about connections.
      .connection_totals = {},
      .reset_connection_counters = {},
      .visit_connections = {},
  };

  const std::string addresses = describe_addresses(sockets);
  const std::string ports = list_ports(sockets);
  EventLoop loop;
  StopSignals signals(loop);
  Event every_second(loop, &on_second, &storage.cache());
  every_second.wait_every(std::chrono::seconds(1));
  Server server(context, loop, std::move(sockets), options.reject_at_limit);
  if (Status status = server.start(); !status.ok()) {
    return status;
  }
  if (!options.port_file.empty()) {
    if (Status status = write_port_file(options.port_file, ports); !status.ok()) {
      return status;
    }
  }
  spdlog::info("pmcached {} serves {} with {} threads", program_version(), addresses,
               settings.threads);
  if (daemon != nullptr) {
    daemon->report_ready(options.verbosity > 0);
  }
  loop.run();
  server.stop(signals.graceful() ? kGracefulPatience : std::chrono::seconds::zero());
  return {};
}

int run(Options options) {
  std::unique_ptr<Daemon> daemon;
  if (options.daemon) {
    make_paths_absolute(&options);
  }
  start_logging(options.verbosity);
  const uint64_t descriptors = options.max_connections + reserved_descriptors(options.threads);
  if (const auto failure = prepare_process(options, descriptors, &daemon)) {
    return leave(*failure);
  }
  for (const std::string& remark : options.remarks) {
    spdlog::info("{}", remark);
  }
  std::vector<ListeningSocket> sockets;
  if (const Status status = bind_sockets(options, &sockets); !status.ok()) {
    // Whatever the reason, memcached has one code for it.
    return leave({EX_OSERR, status.message()});
  }
  std::unique_ptr<Storage> storage;
  if (const Status status = Storage::open(options, &storage); !status.ok()) {
    return leave(exit_reason_of(status));
  }
  // Until the pool has been closed: who waits for the file to go may start the next server.
  const PidFile pid_file(options.pid_file);
  if (const Status status = serve(options, std::move(sockets), *storage, daemon.get());
      !status.ok()) {
    return leave(exit_reason_of(status));
  }
  if (const Status status = storage->close(); !status.ok()) {
    return leave({EX_IOERR, status.message()});
  }
  spdlog::info("stopped cleanly");
  return EX_OK;
}

}  // namespace
}  // namespace pmcached::server

int main(int argc, char** argv) {
  using namespace pmcached::server;
  try {
    auto parsed = parse_command_line(argc, argv);
    if (const auto* reason = std::get_if<ExitReason>(&parsed)) {
      return leave(*reason);
    }
    return run(std::get<Options>(std::move(parsed)));
  } catch (const std::exception& error) {
    return leave({EX_OSERR, error.what()});
  }
}
