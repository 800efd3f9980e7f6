#include "engine/background_thread.h"

#include <utility>

namespace pmcached::engine {

BackgroundThread::BackgroundThread(std::chrono::milliseconds interval, Task task)
    : interval_(interval), task_(std::move(task)), thread_([this] { run(); }) {}

BackgroundThread::~BackgroundThread() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  condition_.notify_one();
  thread_.join();
}

void BackgroundThread::wake() {
  if (woken_.load(std::memory_order_relaxed) || woken_.exchange(true, std::memory_order_relaxed)) {
    return;
  }
  // Taking the mutex orders this wake-up against the waiter's check, so it is not lost.
  { std::lock_guard lock(mutex_); }
  condition_.notify_one();
}

void BackgroundThread::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    condition_.wait_for(lock, interval_,
                        [this] { return stopping_ || woken_.load(std::memory_order_relaxed); });
    if (stopping_) {
      return;
    }
    woken_.store(false, std::memory_order_relaxed);
    lock.unlock();
    task_();
    lock.lock();
  }
}

}  // namespace pmcached::engine
