#include "engine/session_registry.h"

#include <algorithm>
#include <iterator>

namespace pmcached::engine {
namespace {

/// Where a session's counter goes in the totals.
struct SessionField {
  Counter SessionCounters::*counter;
  uint64_t CacheStats::*total;
};
constexpr SessionField kSessionFields[] = {
    {&SessionCounters::get_cmds, &CacheStats::get_cmds},
    {&SessionCounters::get_misses, &CacheStats::get_misses},
    {&SessionCounters::get_expired, &CacheStats::get_expired},
    {&SessionCounters::get_flushed, &CacheStats::get_flushed},
    {&SessionCounters::touch_cmds, &CacheStats::touch_cmds},
    {&SessionCounters::touch_misses, &CacheStats::touch_misses},
    {&SessionCounters::set_cmds, &CacheStats::set_cmds},
    {&SessionCounters::delete_misses, &CacheStats::delete_misses},
    {&SessionCounters::incr_misses, &CacheStats::incr_misses},
    {&SessionCounters::decr_misses, &CacheStats::decr_misses},
    {&SessionCounters::cas_misses, &CacheStats::cas_misses},
    {&SessionCounters::flush_cmds, &CacheStats::flush_cmds},
    {&SessionCounters::store_too_large, &CacheStats::store_too_large},
    {&SessionCounters::store_no_memory, &CacheStats::store_no_memory},
};

/// Where a session's counter of a class goes in that class's totals and in the cache's.
struct ClassField {
  Counter ClassCounters::*counter;
  uint64_t ClassStats::*class_total;
  uint64_t CacheStats::*total;
};
constexpr ClassField kClassFields[] = {
    {&ClassCounters::get_hits, &ClassStats::get_hits, &CacheStats::get_hits},
    {&ClassCounters::set_cmds, &ClassStats::set_cmds, &CacheStats::total_items},
    {&ClassCounters::delete_hits, &ClassStats::delete_hits, &CacheStats::delete_hits},
    {&ClassCounters::incr_hits, &ClassStats::incr_hits, &CacheStats::incr_hits},
    {&ClassCounters::decr_hits, &ClassStats::decr_hits, &CacheStats::decr_hits},
    {&ClassCounters::cas_hits, &ClassStats::cas_hits, &CacheStats::cas_hits},
    {&ClassCounters::cas_badval, &ClassStats::cas_badval, &CacheStats::cas_badval},
    {&ClassCounters::touch_hits, &ClassStats::touch_hits, &CacheStats::touch_hits},
};

void add(const SessionCounters& counters, CacheStats* stats) {
  for (const SessionField& field : kSessionFields) {
    stats->*field.total += (counters.*field.counter).get();
  }
  for (size_t i = 0; i < stats->classes.size(); ++i) {
    for (const ClassField& field : kClassFields) {
      const uint64_t count = (counters.by_class[i].*field.counter).get();
      stats->classes[i].*field.class_total += count;
      stats->*field.total += count;
    }
  }
}

/// Applies `operation(total, part)` to every counter that sessions feed.
template <typename Operation>
void combine(CacheStats* stats, const CacheStats& part, Operation operation) {
  for (const SessionField& field : kSessionFields) {
    operation(stats->*field.total, part.*field.total);
  }
  for (const ClassField& field : kClassFields) {
    operation(stats->*field.total, part.*field.total);
    for (size_t i = 0; i < std::min(stats->classes.size(), part.classes.size()); ++i) {
      operation(stats->classes[i].*field.class_total, part.classes[i].*field.class_total);
    }
  }
}

}  // namespace

void SessionRegistry::add(const Session* session) {
  MutexLock lock(mutex_);
  sessions_.push_back(session);
}

void SessionRegistry::remove(const Session* session) {
  MutexLock lock(mutex_);
  std::erase(sessions_, session);
  ended_.classes.resize(pmem::kMaxSizeClasses);
  engine::add(session->counters(), &ended_);
}

void SessionRegistry::sum_into(CacheStats* stats) const {
  MutexLock lock(mutex_);
  sum_locked(stats);
  combine(stats, at_reset_, [](uint64_t& total, uint64_t part) { total -= part; });
}

void SessionRegistry::reset() {
  MutexLock lock(mutex_);
  CacheStats now;
  now.classes.resize(pmem::kMaxSizeClasses);
  sum_locked(&now);
  at_reset_ = now;
}

void SessionRegistry::sum_locked(CacheStats* stats) const {
  combine(stats, ended_, [](uint64_t& total, uint64_t part) { total += part; });
  for (const Session* session : sessions_) {
    engine::add(session->counters(), stats);
  }
}

}  // namespace pmcached::engine
