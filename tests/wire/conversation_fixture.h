#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <climits>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/commands/conversation.h"
#include "tests/support/cache_fixture.h"

namespace pmcached::tests {

/// Everything pending in `replies`, as a socket would receive it; empties it.
inline std::string drain(server::ReplyBuffer* replies) {
  std::string received;
  std::array<iovec, 8> pieces{};
  while (!replies->empty()) {
    const size_t count = replies->gather(pieces);
    size_t size = 0;
    for (size_t i = 0; i < count; ++i) {
      received.append(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
      size += pieces[i].iov_len;
    }
    replies->consume(size);
  }
  return received;
}

/// A cache in DRAM with what the commands need of a server around it, and one client's conversation
/// at a time.
class ConversationFixture {
 public:
  struct Config {
    server::ServerSettings settings;
    engine::Options engine;
  };

  ConversationFixture() : ConversationFixture(Config{}) {}
  explicit ConversationFixture(const Config& config)
      : settings_(config.settings),
        cache_({.persistent = false, .options = config.engine}),
        context_{
            .cache = cache_.cache(),
            .settings = settings_,
            .version = "1.2.3",
            .libevent_version = "2.1.12-stable",
            .pid = 4711,
            .request_shutdown = [this](bool graceful) { shutdowns.push_back(graceful); },
            .set_verbosity = [this](int level) { verbosity = level; },
            .connection_totals = [this] { return totals; },
            .reset_connection_counters = [this] { ++connection_resets; },
            .visit_connections =
                [this](const std::function<void(const server::ConnectionInfo&)>& visit) {
                  std::for_each(connections.begin(), connections.end(), visit);
                },
        },
        worker_{.session = cache_.session(), .counters = counters} {
    reconnect();
  }

  /// Begins anew as another client.
  void reconnect() {
    replies_ = std::make_unique<server::ReplyBuffer>();
    conversation_ = std::make_unique<server::Conversation>(context_, worker_);
    unused_.clear();
  }

  /// Sends and returns the replies, as a connection with an eager client would.
  std::string send(std::string_view bytes, int max_requests = INT_MAX) {
    unused_ += bytes;
    std::string received;
    do {
      if (conversation_->should_close()) {
        break;
      }
      unused_.erase(0, conversation_->consume(unused_, replies_.get(), max_requests));
      received += drain(replies_.get());
    } while (conversation_->wants_more());
    return received;
  }

  server::Conversation& conversation() { return *conversation_; }
  server::ReplyBuffer& replies() { return *replies_; }
  CacheFixture& cache() { return cache_; }
  /// What has been sent and not used yet.
  const std::string& unused() const { return unused_; }

  std::vector<bool> shutdowns;
  int verbosity = -1;
  int connection_resets = 0;
  server::ConnectionTotals totals;
  std::vector<server::ConnectionInfo> connections;
  server::ConnectionCounters counters;

 private:
  server::ServerSettings settings_;
  CacheFixture cache_;
  server::ServerContext context_;
  server::WorkerContext worker_;
  std::unique_ptr<server::ReplyBuffer> replies_;
  std::unique_ptr<server::Conversation> conversation_;
  std::string unused_;
};

}  // namespace pmcached::tests
