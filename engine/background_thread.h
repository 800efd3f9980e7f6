#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace pmcached::engine {

/// A thread that runs a task when it is woken, and at least once an interval.
///
/// Purpose: the frame of the cleaner and of the table's growth.
/// Thread safety: wake() from any thread; cheap when the thread is awake already.
/// Ownership: joins the thread on destruction; the task must not outlive what it uses.
class BackgroundThread {
 public:
  using Task = std::function<void()>;
  BackgroundThread(std::chrono::milliseconds interval, Task task);
  ~BackgroundThread();
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  void wake();

 private:
  void run();

  const std::chrono::milliseconds interval_;
  const Task task_;
  /// Relaxed: set again by the next wake() at worst; the interval bounds what is missed.
  std::atomic<bool> woken_{false};
  std::mutex mutex_;
  std::condition_variable condition_;
  bool stopping_ = false;
  std::thread thread_;  ///< last, so that everything else exists before it starts
};

}  // namespace pmcached::engine
