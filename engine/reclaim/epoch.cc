#include "engine/reclaim/epoch.h"

#include <algorithm>

namespace pmcached::engine {

EpochRegistry::Participant::Participant(EpochRegistry& registry) : registry_(registry) {
  MutexLock lock(registry_.mutex_);
  registry_.participants_.push_back(this);
}

EpochRegistry::Participant::~Participant() {
  MutexLock lock(registry_.mutex_);
  std::erase(registry_.participants_, this);
}

void EpochRegistry::Participant::enter() {
  // Acquire pairs with the release half of advance(): what was unlinked before the epoch began is
  // not found by this turn.
  // Release: whoever reads this announcement knows the turn before as over, too.
  announced_.store(registry_.global_.load(std::memory_order_acquire), std::memory_order_release);
  // The announcement must be visible before this turn's first read of shared memory; pairs with the
  // fence in retire_tag(), which stands between unlinking and looking at the announcements.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void EpochRegistry::Participant::leave() {
  // Release: all reads of the turn come before; oldest_announced() acquires.
  announced_.store(0, std::memory_order_release);
}

void EpochRegistry::Participant::quiesce() {
  leave();
  enter();
}

uint64_t EpochRegistry::retire_tag() {
  // Pairs with the fence in enter(): either this thread's unlinking is seen by a turn, or that
  // turn's announcement is seen by a later is_safe().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return global_.load(std::memory_order_relaxed);
}

bool EpochRegistry::is_safe(uint64_t tag) {
  // Acquire pairs with the release store below, by whichever thread computed the bound.
  if (tag < safe_before_.load(std::memory_order_acquire)) {
    return true;
  }
  const uint64_t bound = oldest_announced();
  uint64_t known = safe_before_.load(std::memory_order_relaxed);
  while (known < bound && !safe_before_.compare_exchange_weak(
                              known, bound, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return tag < bound;
}

void EpochRegistry::advance() {
  global_.fetch_add(1, std::memory_order_acq_rel);
}

uint64_t EpochRegistry::oldest_announced() {
  MutexLock lock(mutex_);
  // Read before the announcements: a participant that comes online meanwhile announces this epoch
  // or a later one.
  uint64_t oldest = global_.load(std::memory_order_acquire);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (const Participant* participant : participants_) {
    // Acquire pairs with the release store of leave(): the finished turn's reads are over.
    const uint64_t announced = participant->announced_.load(std::memory_order_acquire);
    if (announced != 0) {
      oldest = std::min(oldest, announced);
    }
  }
  return oldest;
}

}  // namespace pmcached::engine
