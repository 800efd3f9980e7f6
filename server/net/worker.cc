#include "server/net/worker.h"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "server/net/connection.h"

namespace pmcached::server {

struct Worker::Client {
  Client(Worker& owner, pmem::FileDescriptor socket, size_t place)
      : worker(owner),
        index(place),
        connection(std::move(socket), owner.context_, owner.worker_context_, owner.buffers_),
        event(owner.loop_, &Worker::on_client_ready, this) {}

  Worker& worker;
  size_t index;  ///< in the worker's list
  Connection connection;
  Event event;
};

Worker::Worker(ServerContext& context, ConnectionLimit& limit, unsigned number)
    : context_(context),
      limit_(limit),
      session_(context.cache.open_session()),
      worker_context_{*session_, counters_},
      wakeup_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      wakeup_event_(loop_, &Worker::on_wakeup, this),
      patience_over_(loop_, &Worker::on_patience_over, this) {
  if (!wakeup_.valid() || !wakeup_event_.wait_for(wakeup_.get(), EV_READ)) {
    throw std::system_error(errno, std::generic_category(), "cannot create a worker's eventfd");
  }
  thread_ = std::thread([this, number] { run(number); });
}

Worker::~Worker() {
  stop(std::chrono::milliseconds::zero());
  join();
}

void Worker::adopt(pmem::FileDescriptor socket) {
  {
    const MutexLock lock(inbox_mutex_);
    inbox_.push_back(std::move(socket));
  }
  wake();
}

void Worker::stop(std::chrono::milliseconds patience) {
  {
    const MutexLock lock(inbox_mutex_);
    stop_requested_ = patience;
  }
  wake();
}

void Worker::join() {
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Worker::visit_clients(const std::function<void(const ConnectionInfo&)>& visit) const {
  const MutexLock lock(clients_mutex_);
  for (const std::unique_ptr<Client>& client : clients_) {
    visit(client->connection.info());
  }
}

void Worker::on_wakeup(int descriptor, short /*what*/, void* worker) {
  eventfd_t ignored = 0;
  eventfd_read(descriptor, &ignored);
  static_cast<Worker*>(worker)->empty_inbox();
}

void Worker::on_client_ready(int /*descriptor*/, short /*what*/, void* argument) {
  auto* client = static_cast<Client*>(argument);
  client->worker.serve(*client);
}

void Worker::on_patience_over(int /*descriptor*/, short /*what*/, void* argument) {
  auto* worker = static_cast<Worker*>(argument);
  worker->patient_ = false;
  worker->close_finished_clients();
}

void Worker::run(unsigned number) {
  pthread_setname_np(pthread_self(), fmt::format("worker-{}", number).c_str());
  loop_.run();
}

void Worker::wake() {
  // Fails only when the counter is full, and then the worker has been woken already.
  eventfd_write(wakeup_.get(), 1);
}

void Worker::empty_inbox() {
  std::vector<pmem::FileDescriptor> sockets;
  std::optional<std::chrono::milliseconds> stop;
  {
    const MutexLock lock(inbox_mutex_);
    sockets.swap(inbox_);
    stop.swap(stop_requested_);
  }
  for (pmem::FileDescriptor& socket : sockets) {
    open_client(std::move(socket));
  }
  if (stop) {
    begin_stop(*stop);
  }
}

void Worker::open_client(pmem::FileDescriptor socket) {
  auto owned = std::make_unique<Client>(*this, std::move(socket), clients_.size());
  Client& client = *owned;
  {
    const MutexLock lock(clients_mutex_);
    clients_.push_back(std::move(owned));
  }
  counters_.opened.add();
  spdlog::trace("connection {}: opened", client.connection.descriptor());
  if (!client.event.wait_for(client.connection.descriptor(), EV_READ)) {
    close_client(client);
  }
}

void Worker::serve(Client& client) {
  const Connection::Wait next = client.connection.take_turn();
  if (next == Connection::Wait::kClosed || is_finished(client)) {
    close_client(client);
    return;
  }
  if (next == Connection::Wait::kTurn) {
    client.event.activate();
    return;
  }
  const short readiness = next == Connection::Wait::kInput ? EV_READ : EV_WRITE;
  if (!client.event.wait_for(client.connection.descriptor(), readiness)) {
    spdlog::warn("connection {}: closed, the system cannot watch it",
                 client.connection.descriptor());
    close_client(client);
  }
}

void Worker::close_client(Client& client) {
  spdlog::trace("connection {}: closed", client.connection.descriptor());
  std::unique_ptr<Client> owned;
  {
    const MutexLock lock(clients_mutex_);
    clients_.back()->index = client.index;
    std::swap(clients_[client.index], clients_.back());
    owned = std::move(clients_.back());
    clients_.pop_back();
  }
  owned.reset();
  counters_.closed.add();
  limit_.leave();
  if (stopping_ && clients_.empty()) {
    loop_.stop();
  }
}

void Worker::begin_stop(std::chrono::milliseconds patience) {
  stopping_ = true;
  patient_ = patience > std::chrono::milliseconds::zero() && patience_over_.wait_once(patience);
  close_finished_clients();
}

bool Worker::is_finished(const Client& client) const {
  if (!stopping_) {
    return false;
  }
  const Connection::Wait wait = client.connection.wait();
  return wait == Connection::Wait::kInput || (wait == Connection::Wait::kOutput && !patient_);
}

void Worker::close_finished_clients() {
  // Backwards: closing one moves the last into its place.
  for (size_t i = clients_.size(); i-- > 0;) {
    if (is_finished(*clients_[i])) {
      close_client(*clients_[i]);
    }
  }
  if (clients_.empty()) {
    loop_.stop();
  }
}

}  // namespace pmcached::server
