#include "server/net/event_loop.h"

#include <stdexcept>

namespace pmcached::server {
namespace {

timeval to_timeval(std::chrono::milliseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(time - seconds);
  return {.tv_sec = seconds.count(), .tv_usec = rest.count()};
}

}  // namespace

EventLoop::EventLoop() {
  // A base is used by its own thread only, so it needs no locks.
  event_config* config = event_config_new();
  if (config != nullptr) {
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
  }
  base_ = config == nullptr ? nullptr : event_base_new_with_config(config);
  if (config != nullptr) {
    event_config_free(config);
  }
  if (base_ == nullptr) {
    throw std::runtime_error("cannot create an event queue: the limit on open files is too low");
  }
}

EventLoop::~EventLoop() {
  event_base_free(base_);
}

void EventLoop::run() {
  event_base_loop(base_, EVLOOP_NO_EXIT_ON_EMPTY);
}

void EventLoop::stop() {
  event_base_loopbreak(base_);
}

bool Event::wait_for(int descriptor, short what) {
  const auto persistent = static_cast<short>(what | EV_PERSIST);
  return waiting_for_ == persistent || start(descriptor, persistent, nullptr);
}

bool Event::wait_every(std::chrono::milliseconds period) {
  const timeval timeout = to_timeval(period);
  return start(-1, EV_PERSIST, &timeout);
}

bool Event::wait_once(std::chrono::milliseconds delay) {
  const timeval timeout = to_timeval(delay);
  return start(-1, EV_TIMEOUT, &timeout);
}

bool Event::wait_for_signal(int number) {
  return start(number, EV_SIGNAL | EV_PERSIST, nullptr);
}

void Event::activate() {
  event_active(&event_, EV_TIMEOUT, 0);
}

void Event::cancel() {
  if (waiting_for_ != 0) {
    event_del(&event_);
    waiting_for_ = 0;
  }
}

bool Event::start(int descriptor, short what, const timeval* timeout) {
  cancel();
  if (event_assign(&event_, loop_.base(), descriptor, what, handler_, argument_) != 0 ||
      event_add(&event_, timeout) != 0) {
    return false;
  }
  waiting_for_ = what;
  return true;
}

}  // namespace pmcached::server
