#pragma once

#include <functional>
#include <span>

#include "pmem/mutex.h"
#include "pmem/persister.h"
#include "pmem/pool_layout.h"

namespace pmcached::pmem {

/// Reads and replaces the RunState of a region, each time as a whole.
///
/// Purpose: the few facts that must outlive a run (CAS numbers, clock, flush_all, clean stop)
/// change atomically and survive a damaged line.
/// Thread safety: all functions from any thread; update() serialises writers by a lock of its own,
/// which is the last in the lock order: nothing is locked while it is held.
/// Ownership: the two copies belong to the region, which outlives this object.
/// Invariant: at every moment at least one copy in the pool is valid.
class RunStateStore {
 public:
  /// `copies` are the two places in the region; `initial` is the state both of them hold.
  RunStateStore(std::span<RunState, 2> copies, const RunState& initial, const Persister& persister);

  /// The state as of the last update.
  RunState get() const;

  /// Applies `change` to the current state and makes the result durable: first copy, fence (the
  /// commit point), second copy, fence. The sequence and checksum are filled in here.
  void update(const std::function<void(RunState&)>& change);

 private:
  mutable Mutex mutex_;
  const std::span<RunState, 2> copies_;
  RunState current_ GUARDED_BY(mutex_);
  const Persister& persister_;
};

}  // namespace pmcached::pmem
