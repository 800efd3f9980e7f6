#pragma once

#include <condition_variable>
#include <mutex>

/// Clang's thread-safety attributes; nothing to other compilers.
#if defined(__clang__)
#define PMCACHED_ATTRIBUTE(x) __attribute__((x))
#else
#define PMCACHED_ATTRIBUTE(x)
#endif
#define GUARDED_BY(x) PMCACHED_ATTRIBUTE(guarded_by(x))
#define REQUIRES(...) PMCACHED_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) PMCACHED_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS PMCACHED_ATTRIBUTE(no_thread_safety_analysis)

namespace pmcached {

/// std::mutex that Clang can check: a field marked GUARDED_BY(mutex_) compiles only under a lock.
///
/// Lock order of the whole program, outermost first. A thread that holds one of these takes only
/// locks further down:
///   1  Rebalancer::mutex_       one slab move at a time
///   2  BagList::mutex_          the consumer side of one size class's bags
///   3  HashTable stripe         one stripe of the index; never two at once
///   4  SlabAllocator class      free slots and limbo of one size class; never two at once
///   5  SlabPool::mutex_         free slabs
///   6  FlushEpoch::mutex_       the flush_all that is due
///   7  CasSequence::mutex_      reserving the next block of CAS numbers
///   8  RunStateStore::mutex_    rewriting the run state
/// Leaves, under which nothing is locked: EpochRegistry, SessionRegistry,
/// OverflowBuckets, BackgroundThread.
class PMCACHED_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() PMCACHED_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void unlock() PMCACHED_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  bool try_lock() PMCACHED_ATTRIBUTE(try_acquire_capability(true)) { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

/// Holds a Mutex for a scope.
class PMCACHED_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) PMCACHED_ATTRIBUTE(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() PMCACHED_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace pmcached
