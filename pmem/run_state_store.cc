#include "pmem/run_state_store.h"

#include "pmem/two_copies.h"

namespace pmcached::pmem {

RunStateStore::RunStateStore(std::span<RunState, 2> copies, const RunState& initial,
                             const Persister& persister)
    : copies_(copies), current_(initial), persister_(persister) {}

RunState RunStateStore::get() const {
  MutexLock lock(mutex_);
  return current_;
}

void RunStateStore::update(const std::function<void(RunState&)>& change) {
  MutexLock lock(mutex_);
  RunState next = current_;
  change(next);
  current_ = seal_after(current_.sequence, next);
  for (RunState& copy : copies_) write_copy(&copy, current_, persister_);
}

}  // namespace pmcached::pmem
