#include "engine/cache.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "engine/cache_parts.h"

namespace pmcached::engine {
namespace {

constexpr std::chrono::milliseconds kBackgroundInterval{1000};

/// Carries out a flush_all that came due while no server ran: everything stored before it counts.
void settle_overdue_flush(pmem::RunStateStore& run_state, uint32_t now) {
  const pmem::RunState state = run_state.get();
  if (state.flush_at != 0 && state.flush_at <= now) {
    run_state.update([](pmem::RunState& next) {
      next.flush_cas = std::max(next.flush_cas, next.cas_limit);
      next.flush_at = 0;
    });
  }
}

}  // namespace

uint64_t Cache::Parts::greatest_item_count(const pmem::Region& region) {
  uint64_t slabs = 0;
  for (const pmem::SlabRange& range : region.slab_ranges()) {
    slabs += range.count;
  }
  return slabs * (pmem::kLinesPerSlab / region.slot_lines().front());
}

void Cache::Parts::recover() {
  settle_overdue_flush(region.run_state(), clock.now());
  Recovery recovery({.options = options,
                     .region = region,
                     .slots = slots,
                     .pool = pool,
                     .allocator = allocator,
                     .table = table,
                     .bags = bags,
                     .population = population},
                    clock.now(), region.run_state().get().flush_cas);
  report = recovery.run();
  const pmem::RunState state = region.run_state().get();
  cas.emplace(region.run_state(), std::max({uint64_t{1}, state.cas_limit, state.flush_cas + 1,
                                            recovery.highest_cas() + 1}));
  flush.emplace(region.run_state(), *cas);
  region.mark_recovered();
}

void Cache::Parts::start() {
  stores.emplace(options, region, clock, slots, *cas, *flush, items, supply);
  cleaner.emplace(options, clock, *flush, slots, pool, allocator, epochs, items, bags, evictor);
  cleaner_session.emplace(epochs, sessions);
  cleaner_thread.emplace(kBackgroundInterval, [this] { cleaner->run_once(*cleaner_session); });
  growth_thread.emplace(kBackgroundInterval, [this] { table.grow(); });
  items.set_background(&*cleaner_thread, &*growth_thread);
}

Status Cache::open(const Options& options, pmem::Region& region, ClockSource clock_source,
                   std::unique_ptr<Cache>* cache) {
  try {
    auto parts = std::make_unique<Parts>(options, region, std::move(clock_source));
    parts->recover();
    parts->start();
    cache->reset(new Cache(std::move(parts)));
  } catch (const std::bad_alloc&) {
    return {Status::Code::kNoSpace,
            "not enough memory for the index of the cache: free some, or use a smaller pool"};
  }
  return {};
}

Cache::Cache(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Cache::~Cache() {
  parts_->growth_thread.reset();
  parts_->cleaner_thread.reset();
  parts_->region.run_state().update([&](pmem::RunState& state) {
    state.cas_limit = parts_->cas->last() + 1;
    state.wall_clock = parts_->clock.now();
  });
}

std::unique_ptr<Session> Cache::open_session() {
  return std::make_unique<Session>(parts_->epochs, parts_->sessions);
}

const Clock& Cache::clock() const {
  return parts_->clock;
}

void Cache::tick() {
  const uint32_t second = parts_->clock.peek();
  parts_->flush->advance_to(second);
  parts_->clock.publish(second);
  parts_->region.run_state().update([second](pmem::RunState& state) { state.wall_clock = second; });
}

void Cache::prefetch_bucket(const HashedKey& key) const {
  parts_->table.prefetch_bucket(key.hash);
}

void Cache::prefetch_item(const HashedKey& key) const {
  if (const SlotReference slot = parts_->table.guess(key.hash); slot != kNoSlot) {
    __builtin_prefetch(parts_->slots.address(slot));
  }
}

bool Cache::get(Session& session, const HashedKey& key, ItemView* view) {
  SessionCounters& counters = session.counters();
  counters.get_cmds.add();
  const SlotReference slot = parts_->items.find(key);
  if (slot == kNoSlot) {
    counters.get_misses.add();
    return false;
  }
  if (!parts_->stores->is_live(slot)) {
    counters.get_misses.add();
    const ItemView item(parts_->slots, slot);
    (parts_->flush->covers(item.cas()) ? counters.get_flushed : counters.get_expired).add();
    return false;
  }
  counters.by_class[parts_->slots.class_of(slot)].get_hits.add();
  *view = ItemView(parts_->slots, slot);
  parts_->bags.note_access(*view, parts_->clock.now());
  return true;
}

Pin Cache::pin(const ItemView& view) {
  return Pin(&parts_->slots.meta(view.slot()));
}

Outcome Cache::begin_store(Session& session, const StoreRequest& request, PendingStore* pending) {
  return parts_->stores->begin(session, request, pending);
}

Outcome Cache::finish_store(Session& session, PendingStore* pending, uint64_t* cas) {
  return parts_->stores->finish(session, pending, cas);
}

Outcome Cache::remove(Session& session, const HashedKey& key) {
  return parts_->stores->remove(session, key);
}

Outcome Cache::touch(Session& session, const HashedKey& key, uint32_t exptime) {
  ItemView view;
  return get_and_touch(session, key, exptime, &view) ? Outcome::kTouched : Outcome::kNotFound;
}

bool Cache::get_and_touch(Session& session, const HashedKey& key, uint32_t exptime,
                          ItemView* view) {
  if (parts_->stores->touch(session, key, exptime, view) != Outcome::kTouched) {
    return false;
  }
  parts_->bags.note_access(*view, parts_->clock.now());
  return true;
}

Arithmetic Cache::add(Session& session, const HashedKey& key, uint64_t delta, bool increment) {
  return parts_->stores->add(session, key, delta, increment);
}

void Cache::flush_all(Session& session, uint32_t at) {
  session.counters().flush_cmds.add();
  if (at <= parts_->clock.now()) {
    parts_->flush->flush_now();
  } else {
    parts_->flush->flush_at(at);
  }
}

const RecoveryReport& Cache::recovery() const {
  return parts_->report;
}

const Options& Cache::options() const {
  return parts_->options;
}

}  // namespace pmcached::engine
