#pragma once

#include <functional>
#include <vector>

#include "engine/session.h"
#include "engine/stats.h"
#include "pmem/mutex.h"

namespace pmcached::engine {

/// All sessions of a cache, so that their counters can be added up.
///
/// Thread safety: all functions from any thread; the lock is a leaf.
/// Ownership: borrows the sessions, which register and deregister themselves; the counts of ended
/// sessions are kept.
class SessionRegistry {
 public:
  void add(const Session* session);
  /// Keeps what the session has counted.
  void remove(const Session* session);

  /// Adds all sessions' counts into `stats`, whose `classes` have been sized.
  void sum_into(CacheStats* stats) const;
  /// From now on, counts start at zero. Sessions' own counters keep running, so their threads need
  /// not be stopped; what they count now is subtracted later.
  void reset();

 private:
  void sum_locked(CacheStats* stats) const REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::vector<const Session*> sessions_ GUARDED_BY(mutex_);
  CacheStats ended_ GUARDED_BY(mutex_);
  CacheStats at_reset_ GUARDED_BY(mutex_);
};

}  // namespace pmcached::engine
