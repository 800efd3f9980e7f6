#include "server/net/server.h"

#include <utility>

namespace pmcached::server {
namespace {

std::vector<ConnectionInfo> describe(const std::vector<ListeningSocket>& sockets) {
  std::vector<ConnectionInfo> infos;
  for (const ListeningSocket& socket : sockets) {
    ConnectionInfo& info = infos.emplace_back();
    info.fd = socket.descriptor();
    info.address = socket.address().text();
    info.state = "conn_listening";
  }
  return infos;
}

}  // namespace

Server::Server(ServerContext& context, EventLoop& loop, std::vector<ListeningSocket> sockets,
               bool reject_at_limit)
    : context_(context),
      limit_(context.settings.max_connections),
      listener_infos_(describe(sockets)),
      listener_(loop, std::move(sockets), context.settings.tcp_backlog, reject_at_limit, limit_,
                [this](pmem::FileDescriptor client) { dispatch(std::move(client)); }) {
  context.connection_totals = [this] { return totals(); };
  context.reset_connection_counters = [this] { reset_counters(); };
  context.visit_connections = [this](const auto& visit) { visit_connections(visit); };
  for (unsigned number = 0; number < context.settings.threads; ++number) {
    workers_.push_back(std::make_unique<Worker>(context, limit_, number));
  }
}

Server::~Server() {
  stop(std::chrono::milliseconds::zero());
}

Status Server::start() {
  return listener_.start();
}

void Server::stop(std::chrono::milliseconds patience) {
  listener_.close();
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->stop(patience);
  }
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->join();
  }
}

ConnectionTotals Server::sum() const {
  ConnectionTotals sum;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    sum.total += worker->counters().opened.get();
    sum.bytes_read += worker->counters().bytes_read.get();
    sum.bytes_written += worker->counters().bytes_written.get();
    sum.yields += worker->counters().yields.get();
    sum.read_buffers += worker->buffers().blocks();
    sum.read_buffer_bytes += worker->buffers().bytes();
  }
  sum.current = limit_.current();
  sum.structures = sum.current + listener_infos_.size();
  sum.rejected = listener_.counters().rejected.get();
  sum.listen_disabled = listener_.counters().pauses.get();
  sum.listen_disabled_micros = listener_.counters().pause_micros.get();
  sum.accepting = listener_.counters().accepting.load(std::memory_order_relaxed);
  sum.reserved_fds = reserved_descriptors(context_.settings.threads);
  return sum;
}

ConnectionTotals Server::totals() const {
  ConnectionTotals totals = sum();
  const MutexLock lock(baseline_mutex_);
  totals.total -= baseline_.total;
  totals.rejected -= baseline_.rejected;
  totals.bytes_read -= baseline_.bytes_read;
  totals.bytes_written -= baseline_.bytes_written;
  totals.yields -= baseline_.yields;
  totals.listen_disabled -= baseline_.listen_disabled;
  totals.listen_disabled_micros -= baseline_.listen_disabled_micros;
  return totals;
}

void Server::reset_counters() {
  const MutexLock lock(baseline_mutex_);
  baseline_ = sum();
}

void Server::visit_connections(const std::function<void(const ConnectionInfo&)>& visit) const {
  const engine::Clock& clock = context_.cache.clock();
  for (ConnectionInfo info : listener_infos_) {
    info.seconds_since_last_command = clock.now() - clock.started();
    visit(info);
  }
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->visit_clients(visit);
  }
}

void Server::dispatch(pmem::FileDescriptor client) {
  workers_[next_worker_]->adopt(std::move(client));
  next_worker_ = (next_worker_ + 1) % workers_.size();
}

}  // namespace pmcached::server
