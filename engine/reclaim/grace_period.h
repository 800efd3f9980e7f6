#pragma once

#include <chrono>
#include <thread>

#include "engine/reclaim/epoch.h"

namespace pmcached::engine {

/// Lets epochs pass until `done()` is true, for a bounded time: some 20 milliseconds of sleep at
/// most. A turn takes microseconds; a thread that has lost its processor in one, some milliseconds.
/// Drops everything the participant has read. False when the time ran out.
/// Precondition: `self` is online, and no other participant can be waiting, online, for a lock that
/// this thread holds.
template <typename Done>
bool await_grace_period(EpochRegistry& epochs, EpochRegistry::Participant& self, Done&& done) {
  constexpr int kYields = 200;
  constexpr int kSleeps = 200;
  constexpr std::chrono::microseconds kSleep{100};
  for (int i = 0; i < kYields + kSleeps; ++i) {
    epochs.advance();
    self.quiesce();
    if (done()) {
      return true;
    }
    if (i < kYields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kSleep);
    }
  }
  return false;
}

}  // namespace pmcached::engine
