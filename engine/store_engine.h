#pragma once

#include "engine/arithmetic.h"
#include "engine/cas_sequence.h"
#include "engine/clock.h"
#include "engine/flush_epoch.h"
#include "engine/item_index.h"
#include "engine/options.h"
#include "engine/outcome.h"
#include "engine/pending_store.h"
#include "engine/session.h"
#include "engine/slot_supply.h"
#include "pmem/region.h"

namespace pmcached::engine {

/// Every operation that writes a record: set, add, replace, cas, append, prepend, incr, decr.
///
/// Purpose: one path for all of them. The record's body is written outside any lock; under the
/// stripe lock the CAS number is taken, the condition checked, the record sealed and published.
/// Operations that need the old value (append, prepend, incr, decr) read it without a lock, write
/// the new record, and publish only if the old item is still the one they read; else they start
/// over, which means another writer has succeeded.
/// Thread safety: all functions from any thread, inside an epoch turn.
/// Ownership: borrows everything.
class StoreEngine {
 public:
  StoreEngine(const Options& options, pmem::Region& region, const Clock& clock,
              const SlotTable& slots, CasSequence& cas, FlushEpoch& flush, ItemIndex& items,
              SlotSupply& supply)
      : options_(options),
        region_(region),
        clock_(clock),
        slots_(slots),
        cas_(cas),
        flush_(flush),
        items_(items),
        supply_(supply) {}

  /// As the functions of the same names in Cache.
  Outcome begin(Session& session, const StoreRequest& request, PendingStore* pending);
  Outcome finish(Session& session, PendingStore* pending, uint64_t* cas);
  Arithmetic add(Session& session, const HashedKey& key, uint64_t delta, bool increment);
  Outcome remove(Session& session, const HashedKey& key);
  /// `view` receives the item when kTouched.
  Outcome touch(Session& session, const HashedKey& key, uint32_t exptime, ItemView* view);

  /// Whether the item in `slot` is neither expired nor flushed.
  bool is_live(SlotReference slot) const;
  /// The CAS number that clients see.
  uint64_t visible_cas(const ItemView& item) const { return options_.cas_enabled ? item.cas() : 0; }

 private:
  Outcome publish(Session& session, PendingStore* pending, uint64_t* cas);
  Outcome finish_concatenation(Session& session, PendingStore* pending, uint64_t* cas);
  /// Publishes the record in `writer` if the item of `key` still has the CAS number `expected`.
  bool replace_unchanged(const HashedKey& key, RecordWriter* writer, uint64_t expected,
                         uint64_t* cas);
  Outcome check_condition(Session& session, const StoreRequest& request, SlotReference found) const;
  /// As is_live(), for a writer that has just taken the number of a record derived from this one.
  bool may_be_succeeded(SlotReference slot) const;
  bool is_expired(const ItemView& item) const;
  /// A set that found no room leaves no older value behind (invariant I3). As with memcached, other
  /// modes leave the item as it is.
  Outcome refuse(const StoreRequest& request, Outcome outcome);
  struct Removed {
    SlotReference slot = kNoSlot;
    bool live = false;  ///< neither expired nor flushed
  };
  /// Removes the key's item, whatever its state.
  Removed take_out(const HashedKey& key);
  RecordWriter make_writer() const {
    return {slots_, region_.persister(), region_.checksum_seed()};
  }
  ClassCounters& class_counters(Session& session, SlotReference slot) const {
    return session.counters().by_class[slots_.class_of(slot)];
  }

  const Options& options_;
  pmem::Region& region_;
  const Clock& clock_;
  const SlotTable& slots_;
  CasSequence& cas_;
  FlushEpoch& flush_;
  ItemIndex& items_;
  SlotSupply& supply_;
};

}  // namespace pmcached::engine
