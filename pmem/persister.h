#pragma once

#include <cstddef>

#include "pmem/status.h"

namespace pmcached::pmem {

/// What makes a store survive on the medium behind a region.
enum class Medium {
  kAnonymous,  ///< DRAM of this process: nothing survives, nothing is flushed
  kPageCache,  ///< a file without DAX: stores survive the process by the page cache; a clean stop
               ///< syncs
  kPmem,       ///< DAX, or PMEM_IS_PMEM_FORCE: flushed and fenced cache lines survive a power cut
};

/// The only door to durability: no other code flushes a cache line, fences or syncs.
///
/// Purpose: one set of calls whose meaning is "durable after the next fence()" on PMEM and which
/// cost (nearly) nothing on media where that promise does not exist.
/// Thread safety: all functions may be called from any thread. A fence orders and completes the
/// calling thread's own copies and flushes only.
/// Ownership: holds no memory; the region it belongs to outlives it.
/// Failure: only sync() can fail.
class Persister {
 public:
  explicit Persister(Medium medium) : medium_(medium) {}

  Medium medium() const { return medium_; }

  /// Copies `size` bytes, past the CPU caches on PMEM. Durable after fence(). `to` and `size` are
  /// multiples of 64 on hot paths, so that no line is written twice; any value is correct.
  void copy(void* to, const void* from, size_t size) const;

  /// Sets `size` bytes to zero. Durable after fence().
  void zero(void* to, size_t size) const;

  /// Starts writing the lines that hold [at, at + size) back. Durable after fence().
  void flush(const void* at, size_t size) const;

  /// Waits until every copy, zero and flush of this thread is durable. A store fence on every
  /// medium, so that what is published afterwards is seen after what was written before.
  void fence() const;

  /// flush() and fence().
  void persist(const void* at, size_t size) const {
    flush(at, size);
    fence();
  }

  /// Forces [at, at + size) to the medium where that takes a system call (kPageCache); elsewhere
  /// everything fenced is durable already. Takes milliseconds: for opening and closing only.
  Status sync(const void* at, size_t size) const;

 private:
  Medium medium_;
};

}  // namespace pmcached::pmem
