#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/index/bucket.h"
#include "pmem/mutex.h"

namespace pmcached::engine {

/// Buckets for the chains of the hash table, allocated by the block, since one by one they would
/// cost twice their size.
///
/// Thread safety: all functions from any thread; the lock is a leaf.
/// Ownership: owns the buckets, which live as long as it does. A reader without a lock may still be
/// in a bucket that was given back, or that serves another chain since: it finds entries there that
/// do not match, and learns from the table's shape that it has to look again.
class OverflowBuckets {
 public:
  /// An empty bucket.
  Bucket* take() {
    MutexLock lock(mutex_);
    if (!given_back_.empty()) {
      Bucket* bucket = given_back_.back();
      given_back_.pop_back();
      return bucket;
    }
    if (used_ == blocks_.size() * kBlock) {
      blocks_.push_back(std::make_unique<Bucket[]>(kBlock));
    }
    const size_t index = used_++;
    return &blocks_[index / kBlock][index % kBlock];
  }
  /// Precondition: the bucket is empty and no chain leads to it.
  void give_back(Bucket* bucket) {
    MutexLock lock(mutex_);
    given_back_.push_back(bucket);
  }
  /// Buckets that take memory, in use or given back.
  uint64_t count() const {
    MutexLock lock(mutex_);
    return used_;
  }

 private:
  static constexpr size_t kBlock = 1024;

  mutable Mutex mutex_;
  std::vector<std::unique_ptr<Bucket[]>> blocks_ GUARDED_BY(mutex_);
  size_t used_ GUARDED_BY(mutex_) = 0;
  std::vector<Bucket*> given_back_ GUARDED_BY(mutex_);
};

}  // namespace pmcached::engine
