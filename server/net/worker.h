#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "engine/session.h"
#include "pmem/file_descriptor.h"
#include "pmem/mutex.h"
#include "server/commands/server_context.h"
#include "server/net/connection_limit.h"
#include "server/net/event_loop.h"
#include "server/net/read_buffer.h"

namespace pmcached::server {

/// A thread that serves its share of the clients.
///
/// Purpose: one event loop, one engine session and one set of counters, none of which other
/// workers write, so that workers do not slow each other down.
/// Thread safety: adopt(), stop() and the inspecting functions from any thread; all else happens
/// in the worker's own.
/// Ownership: owns its clients; borrows context and limit, which outlive it. The destructor stops
/// the thread.
/// Lock order: inbox_mutex_ and clients_mutex_ are never held together.
/// Failure: the constructor throws std::system_error or std::runtime_error when the system gives no
/// event queue or thread.
class Worker {
 public:
  Worker(ServerContext& context, ConnectionLimit& limit, unsigned number);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Takes over a client whom `limit` has let in.
  void adopt(pmem::FileDescriptor socket);
  /// Finishes the requests that have been received and closes the clients; those who do not read
  /// their replies get `patience` to do so. Does not wait: join() does.
  void stop(std::chrono::milliseconds patience);
  void join();

  const ConnectionCounters& counters() const { return counters_; }
  const ReadBufferPool& buffers() const { return buffers_; }
  /// Calls `visit` for each client, while none can come or go.
  void visit_clients(const std::function<void(const ConnectionInfo&)>& visit) const;

 private:
  struct Client;

  static void on_wakeup(int descriptor, short what, void* worker);
  static void on_client_ready(int descriptor, short what, void* client);
  static void on_patience_over(int descriptor, short what, void* worker);

  void run(unsigned number);
  void wake();
  void empty_inbox();
  void open_client(pmem::FileDescriptor socket);
  void serve(Client& client);
  void close_client(Client& client);
  void begin_stop(std::chrono::milliseconds patience);
  /// Whether a stopping worker has no reason to keep this client.
  bool is_finished(const Client& client) const;
  void close_finished_clients();

  ServerContext& context_;
  ConnectionLimit& limit_;
  ConnectionCounters counters_;
  ReadBufferPool buffers_;
  std::unique_ptr<engine::Session> session_;
  WorkerContext worker_context_;

  EventLoop loop_;
  pmem::FileDescriptor wakeup_;
  Event wakeup_event_;
  Event patience_over_;

  Mutex inbox_mutex_;
  std::vector<pmem::FileDescriptor> inbox_ GUARDED_BY(inbox_mutex_);
  std::optional<std::chrono::milliseconds> stop_requested_ GUARDED_BY(inbox_mutex_);

  mutable Mutex clients_mutex_;
  /// Changed by the worker under clients_mutex_, so the worker itself reads without.
  std::vector<std::unique_ptr<Client>> clients_;

  bool stopping_ = false;
  bool patient_ = false;
  std::thread thread_;
};

}  // namespace pmcached::server
