#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "pmem/mutex.h"

namespace pmcached::engine {

/// Quiescent-state based reclamation: what was unlinked in epoch e may be reused once every
/// participant that is online has been quiescent since.
///
/// Purpose: lock-free readers; a reader's cost is two stores and one fence a turn, none per read.
/// Why not liburcu-qsbr: its barriers are inline assembly that ThreadSanitizer cannot see, and the
/// version in Debian 12 has no way to ask about a grace period without waiting for it.
/// Thread safety: retire_tag(), is_safe() and try_advance() from any thread; a Participant's
/// functions from its own thread.
/// Ownership: participants register themselves and are outlived by the registry.
///
/// How it works. `global_` counts epochs. A participant online in epoch n has announced n in its
/// own cache line. Memory is unlinked first, then tagged with the current epoch e. The tag is safe
/// when every online participant announced an epoch > e: each of them has entered after the
/// unlinking and cannot have seen the memory.
class EpochRegistry {
 public:
  class Participant {
   public:
    explicit Participant(EpochRegistry& registry);
    ~Participant();
    Participant(const Participant&) = delete;
    Participant& operator=(const Participant&) = delete;

    /// Goes online. Precondition: offline.
    void enter();
    /// Goes offline. Precondition: online. Nothing read since enter() may be used afterwards.
    void leave();
    /// leave() and enter() in one: drops everything read so far, stays online.
    void quiesce();

   private:
    friend class EpochRegistry;
    /// Announced epoch; 0 = offline. A line of its own: written every turn, read by reclaimers.
    alignas(64) std::atomic<uint64_t> announced_{0};
    EpochRegistry& registry_;
  };

  /// The epoch to tag memory with that has just been unlinked.
  uint64_t retire_tag();
  /// Whether memory tagged `tag` can no longer be seen by anybody.
  bool is_safe(uint64_t tag);
  /// Starts a new epoch, so that tags of the current one can become safe.
  void advance();

 private:
  uint64_t oldest_announced();

  alignas(64) std::atomic<uint64_t> global_{1};
  /// Cached lower bound of what every online participant announced; only grows.
  alignas(64) std::atomic<uint64_t> safe_before_{0};
  Mutex mutex_;
  std::vector<Participant*> participants_ GUARDED_BY(mutex_);
};

}  // namespace pmcached::engine
