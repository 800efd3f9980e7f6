#include "engine/cas_sequence.h"

#include <algorithm>

namespace pmcached::engine {

CasSequence::CasSequence(pmem::RunStateStore& run_state, uint64_t first)
    : run_state_(run_state), next_(first), limit_(run_state.get().cas_limit) {
  if (first >= limit_.load(std::memory_order_relaxed)) {
    reserve(first);
  }
}

void CasSequence::reserve(uint64_t number) {
  MutexLock lock(mutex_);
  if (number < limit_.load(std::memory_order_relaxed)) {
    return;
  }
  const uint64_t limit = number + kBlock;
  run_state_.update(
      [limit](pmem::RunState& state) { state.cas_limit = std::max(state.cas_limit, limit); });
  limit_.store(limit, std::memory_order_release);
}

}  // namespace pmcached::engine
