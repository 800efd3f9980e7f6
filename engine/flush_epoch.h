#pragma once

#include <atomic>
#include <cstdint>

#include "engine/cas_sequence.h"
#include "pmem/mutex.h"
#include "pmem/run_state_store.h"

namespace pmcached::engine {

/// flush_all as a durable epoch in CAS numbers: what carries a number up to the epoch's is gone.
///
/// Purpose: flushing costs one durable word, whatever the size of the cache; readers compare two
/// numbers.
/// Thread safety: all functions from any thread.
/// Ownership: borrows run state and CAS sequence.
/// Invariant: the epoch is durable before any reader sees it.
class FlushEpoch {
 public:
  FlushEpoch(pmem::RunStateStore& run_state, CasSequence& cas);

  bool covers(uint64_t cas) const { return cas <= epoch(); }
  /// As covers(), for a writer that derives a new record from an old one and has just taken the new
  /// one's number: if a flush is under way that does not cover the new number, waits for it. So
  /// what was flushed cannot live on in what was made of it.
  bool covers_for_successor(uint64_t cas);
  /// Acquire pairs with the release in flush_locked().
  uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

  /// Flushes everything stored so far, and forgets a flush that is due later.
  void flush_now();
  /// Flushes, when Unix second `at` comes, everything stored before it. Replaces an earlier wish.
  void flush_at(uint32_t at);
  /// Carries out the flush that has come due by `second`. To be called before the clock shows that
  /// second, so that nothing stored at or after it is flushed.
  void advance_to(uint32_t second);
  /// For statistics: when a flush last happened or is due to; 0 = never.
  uint32_t due() const { return due_.load(std::memory_order_relaxed); }

 private:
  void flush_locked() REQUIRES(mutex_);

  pmem::RunStateStore& run_state_;
  CasSequence& cas_;
  Mutex mutex_;
  /// Set while flush_locked() decides on an epoch and makes it durable. Sequentially consistent, as
  /// are CasSequence's numbers: a writer whose number was taken after the epoch was decided sees
  /// the flag, or the new epoch.
  std::atomic<bool> flushing_{false};
  std::atomic<uint64_t> epoch_;
  /// Changed under the mutex; relaxed, since advance_to() looks again under the mutex.
  std::atomic<uint32_t> due_;
};

}  // namespace pmcached::engine
