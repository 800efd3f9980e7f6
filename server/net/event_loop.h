#pragma once

#include <event2/event.h>
#include <event2/event_struct.h>

#include <chrono>
#include <functional>

namespace pmcached::server {

/// A libevent base: what one thread waits with.
///
/// Purpose: owns the base and stops it.
/// Thread safety: belongs to the thread that calls run(); every Event of it likewise.
/// Ownership: its events must be gone before it.
/// Failure: the constructor throws std::runtime_error when the system gives no event queue.
class EventLoop {
 public:
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// Calls back for events until stop().
  void run();
  /// Makes run() return after the callback that is running. From the loop's own thread only.
  void stop();

  event_base* base() { return base_; }

 private:
  event_base* base_;
};

/// Something a loop waits for: a descriptor, a timer or a signal.
///
/// Purpose: one registration with libevent, cancelled by its destructor.
/// Thread safety: belongs to the loop's thread.
/// Ownership: borrows the loop, the descriptor and the handler's argument. It may be destroyed from
/// within its own handler.
class Event {
 public:
  using Handler = void (*)(int descriptor, short what, void* argument);

  /// Registers nothing yet: that is what the wait functions do.
  Event(EventLoop& loop, Handler handler, void* argument)
      : loop_(loop), handler_(handler), argument_(argument) {}
  ~Event() { cancel(); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Calls the handler whenever `descriptor` is readable (EV_READ) or writable (EV_WRITE), until
  /// told otherwise. Returns false when the system refuses.
  bool wait_for(int descriptor, short what);
  /// Calls the handler every `period`.
  bool wait_every(std::chrono::milliseconds period);
  /// Calls the handler once, `delay` from now.
  bool wait_once(std::chrono::milliseconds delay);
  /// Calls the handler, in the loop, whenever the process gets signal `number`.
  bool wait_for_signal(int number);
  /// Puts the handler at the end of the queue of those to be called now. Precondition: waiting.
  void activate();
  void cancel();

 private:
  bool start(int descriptor, short what, const timeval* timeout);

  EventLoop& loop_;
  Handler handler_;
  void* argument_;
  short waiting_for_ = 0;
  event event_{};
};

}  // namespace pmcached::server
