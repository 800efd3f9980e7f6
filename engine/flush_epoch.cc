#include "engine/flush_epoch.h"

namespace pmcached::engine {

FlushEpoch::FlushEpoch(pmem::RunStateStore& run_state, CasSequence& cas)
    : run_state_(run_state),
      cas_(cas),
      epoch_(run_state.get().flush_cas),
      due_(static_cast<uint32_t>(run_state.get().flush_at)) {}

void FlushEpoch::flush_now() {
  MutexLock lock(mutex_);
  flush_locked();
}

void FlushEpoch::flush_at(uint32_t at) {
  MutexLock lock(mutex_);
  run_state_.update([at](pmem::RunState& state) { state.flush_at = at; });
  due_.store(at, std::memory_order_relaxed);
}

void FlushEpoch::advance_to(uint32_t second) {
  const uint32_t due = due_.load(std::memory_order_relaxed);
  if (due == 0 || due > second) {
    return;
  }
  MutexLock lock(mutex_);
  if (const uint32_t now_due = due_.load(std::memory_order_relaxed);
      now_due != 0 && now_due <= second) {
    flush_locked();
  }
}

void FlushEpoch::flush_locked() {
  flushing_.store(true, std::memory_order_seq_cst);
  const uint64_t epoch = cas_.last();
  run_state_.update([epoch](pmem::RunState& state) {
    state.flush_cas = epoch;
    state.flush_at = 0;
  });
  due_.store(0, std::memory_order_relaxed);
  // Release: whoever sees the epoch may tell a client; it is durable by then.
  epoch_.store(epoch, std::memory_order_release);
  flushing_.store(false, std::memory_order_seq_cst);
}

bool FlushEpoch::covers_for_successor(uint64_t cas) {
  if (flushing_.load(std::memory_order_seq_cst)) {
    MutexLock lock(mutex_);
  }
  return covers(cas);
}

}  // namespace pmcached::engine
