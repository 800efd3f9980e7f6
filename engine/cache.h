#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/arithmetic.h"
#include "engine/clock.h"
#include "engine/item/hashed_key.h"
#include "engine/item/item_view.h"
#include "engine/options.h"
#include "engine/outcome.h"
#include "engine/pending_store.h"
#include "engine/session.h"
#include "engine/stats.h"
#include "engine/store_request.h"
#include "pmem/region.h"
#include "pmem/status.h"

namespace pmcached::engine {

/// The cache: a facade that delegates to index, slabs, bags and recovery.
///
/// Purpose: memcached's operations over a Region, with the durability invariants I1 to I4 of
/// docs/crash_consistency.md: when a function returns, what its outcome says is durable.
/// Thread safety: every function may be called from any thread, each thread with its own Session.
/// Ownership: borrows the Region, which outlives the cache; owns its background threads. Sessions
/// must be gone before the cache is destroyed.
/// Views: an ItemView is valid until the session's Turn ends or until the session's next call of
/// begin_store(), finish_store() or add(), whichever comes first; pin() keeps it longer.
/// Failure: only opening fails; everything else answers by Outcome.
class Cache {
 public:
  /// Recovers the region's items and starts the background threads.
  static Status open(const Options& options, pmem::Region& region, ClockSource clock_source,
                     std::unique_ptr<Cache>* cache);
  /// Stops the background threads. Does not close the region.
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  /// A session for the calling thread. The cache must outlive it.
  std::unique_ptr<Session> open_session();

  const Clock& clock() const;
  /// To be called about once a second, from one thread: moves the clock, carries out a flush_all
  /// that has come due, and keeps the pool's wall clock mark.
  void tick();

  // --- Reads. Precondition: inside a Session::Turn. No lock, no write to the pool. ---

  /// Starts loading the bucket of `key` into the CPU caches.
  void prefetch_bucket(const HashedKey& key) const;
  /// Starts loading the item's first line; useful once the bucket has arrived.
  void prefetch_item(const HashedKey& key) const;
  /// Finds a live item and notes the access. Counts a get.
  bool get(Session& session, const HashedKey& key, ItemView* view);
  /// Keeps the item's bytes readable after the turn, until the pin is destroyed. The pin is empty
  /// when the item has some 60,000 pins already: the bytes must then be copied.
  Pin pin(const ItemView& view);

  // --- Writes. Precondition: inside a Session::Turn. ---

  /// First half of a store: checks the size and finds room. kStored means go on: write exactly
  /// `request.length` bytes to `pending`, then call finish_store(). Anything else ends the store
  /// (kTooLarge, kOutOfMemory) and `pending` stays empty. `request.key` need not outlive the call.
  /// The pending store may live across turns while the value arrives; destroying it gives up.
  Outcome begin_store(Session& session, const StoreRequest& request, PendingStore* pending);
  /// Second half: checks the condition and publishes. Precondition: pending.missing() == 0.
  /// `cas`, if not null, receives the new CAS number when kStored.
  Outcome finish_store(Session& session, PendingStore* pending, uint64_t* cas = nullptr);

  /// kDeleted or kNotFound.
  Outcome remove(Session& session, const HashedKey& key);
  /// Sets a new expiry; kTouched or kNotFound. Counts a touch.
  Outcome touch(Session& session, const HashedKey& key, uint32_t exptime);
  /// get() and touch() in one (gat): the item is handed out even if it expires at once. Counts a
  /// touch and no get, as memcached does.
  bool get_and_touch(Session& session, const HashedKey& key, uint32_t exptime, ItemView* view);
  /// incr (`increment`) wraps at 2^64, decr stops at 0.
  Arithmetic add(Session& session, const HashedKey& key, uint64_t delta, bool increment);
  /// Invalidates every item stored before Unix second `at`; `at` <= now means now. A later call
  /// replaces a flush that has not come due. Durable when it returns.
  void flush_all(Session& session, uint32_t at);

  // --- Inspection ---

  CacheStats stats() const;
  /// `stats reset`: zeroes the counters, not the gauges.
  void reset_stats();
  /// Items per 32-byte size step (memcached's `stats sizes`): pairs of upper bound and count.
  /// Walks the whole cache without locks; takes seconds on a large one. Ends the session's views.
  /// Precondition: inside a Session::Turn.
  std::vector<std::pair<uint32_t, uint64_t>> item_sizes(Session& session) const;
  const RecoveryReport& recovery() const;
  const Options& options() const;

  struct Parts;

 private:
  explicit Cache(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace pmcached::engine
