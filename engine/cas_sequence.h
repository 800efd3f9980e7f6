#pragma once

#include <atomic>
#include <cstdint>

#include "pmem/mutex.h"
#include "pmem/run_state_store.h"

namespace pmcached::engine {

/// CAS numbers: unique and growing over the whole life of a pool.
///
/// Purpose: next() costs one atomic addition; a durable limit, raised a block at a time, keeps
/// every number ever given out below where the next run resumes. Thread safety: all functions from
/// any thread. Ownership: borrows the run state.
class CasSequence {
 public:
  /// Numbers reserved by one durable update: a restart after a crash skips up to this many.
  static constexpr uint64_t kBlock = uint64_t{1} << 20;

  /// Resumes at `first`, which must be above every number in use.
  CasSequence(pmem::RunStateStore& run_state, uint64_t first);

  uint64_t next() {
    // Sequentially consistent: FlushEpoch compares the order of numbers with that of its flag.
    const uint64_t number = next_.fetch_add(1, std::memory_order_seq_cst);
    // Acquire pairs with the release in reserve(): a number below the limit is reserved durably.
    if (number >= limit_.load(std::memory_order_acquire)) {
      reserve(number);
    }
    return number;
  }
  /// The highest number given out so far, or one that will be soon.
  uint64_t last() const { return next_.load(std::memory_order_seq_cst) - 1; }

 private:
  void reserve(uint64_t number);

  pmem::RunStateStore& run_state_;
  alignas(64) std::atomic<uint64_t> next_;
  alignas(64) std::atomic<uint64_t> limit_;
  Mutex mutex_;
};

}  // namespace pmcached::engine
