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
/// Ownership: owns the buckets, which live as long as it does: a chain keeps its buckets.
class OverflowBuckets {
 public:
  /// An empty bucket.
  Bucket* take() {
    MutexLock lock(mutex_);
    if (used_ == blocks_.size() * kBlock) {
      blocks_.push_back(std::make_unique<Bucket[]>(kBlock));
    }
    const size_t index = used_++;
    return &blocks_[index / kBlock][index % kBlock];
  }
  uint64_t count() const {
    MutexLock lock(mutex_);
    return used_;
  }

 private:
  static constexpr size_t kBlock = 1024;

  mutable Mutex mutex_;
  std::vector<std::unique_ptr<Bucket[]>> blocks_ GUARDED_BY(mutex_);
  size_t used_ GUARDED_BY(mutex_) = 0;
};

}  // namespace pmcached::engine
