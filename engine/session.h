#pragma once

#include <memory>

#include "engine/reclaim/epoch.h"
#include "engine/stats.h"

namespace pmcached::engine {

/// One thread's access to the cache: its place in the reclamation epochs and its counters.
///
/// Purpose: lets readers go without locks: memory seen during a Turn is not reused before it ends.
/// Thread safety: belongs to one thread at a time; counters may be read by others.
/// Ownership: made by Cache::open_session(), owned by the thread, outlived by the cache.
class Session {
 public:
  Session(EpochRegistry& epochs, class SessionRegistry& registry);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// While a Turn exists the session may read. Turns do not nest; make one per batch of requests,
  /// never hold one while waiting for the network.
  class Turn {
   public:
    explicit Turn(Session& session) : participant_(session.participant_) { participant_.enter(); }
    ~Turn() { participant_.leave(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    EpochRegistry::Participant& participant_;
  };

  SessionCounters& counters() { return counters_; }
  const SessionCounters& counters() const { return counters_; }
  EpochRegistry::Participant& participant() { return participant_; }

 private:
  class SessionRegistry& registry_;
  EpochRegistry::Participant participant_;
  SessionCounters counters_;
};

}  // namespace pmcached::engine
