#include "server/runtime/stop_signals.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <string.h>
#include <unistd.h>

#include <stdexcept>

namespace pmcached::server {
namespace {

constexpr int kGracefulSignal = SIGUSR1;

}  // namespace

StopSignals::StopSignals(EventLoop& loop)
    : loop_(loop),
      events_{Event(loop, &StopSignals::on_signal, this),
              Event(loop, &StopSignals::on_signal, this),
              Event(loop, &StopSignals::on_signal, this)} {
  // The stop signals, too: that is what libevent leaves behind when the events end, so that a
  // second one does not interrupt the closing of the pool.
  for (const int ignored : {SIGPIPE, SIGHUP, SIGTERM, SIGINT, kGracefulSignal}) {
    signal(ignored, SIG_IGN);
  }
  if (!events_[0].wait_for_signal(SIGTERM) || !events_[1].wait_for_signal(SIGINT) ||
      !events_[2].wait_for_signal(kGracefulSignal)) {
    throw std::runtime_error("cannot handle signals: the system refuses");
  }
}

void StopSignals::request(bool graceful) {
  kill(getpid(), graceful ? kGracefulSignal : SIGINT);
}

void StopSignals::on_signal(int number, short /*what*/, void* argument) {
  auto* signals = static_cast<StopSignals*>(argument);
  signals->graceful_ = number == kGracefulSignal;
  spdlog::info("stopping on SIG{}", sigabbrev_np(number));
  signals->loop_.stop();
}

}  // namespace pmcached::server
