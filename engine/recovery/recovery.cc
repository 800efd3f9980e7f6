#include "engine/recovery/recovery.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "engine/item/hashed_key.h"
#include "engine/item/item_view.h"

namespace pmcached::engine {
namespace {

/// Records whose buckets are fetched together, so that their cache misses overlap.
constexpr size_t kBatch = 16;

void add_up(const RecoveryReport& part, RecoveryReport* total) {
  total->expired += part.expired;
  total->flushed += part.flushed;
  total->superseded += part.superseded;
  total->damaged_records += part.damaged_records;
}

}  // namespace

Recovery::Recovery(const Parts& parts, uint32_t now, uint64_t flush_epoch)
    : parts_(parts), now_(now), flush_epoch_(flush_epoch) {}

RecoveryReport Recovery::run() {
  const auto start = std::chrono::steady_clock::now();
  RecoveryReport report;
  report.threads = thread_count();
  read_directory(&report);

  uint64_t slots = 0;
  for (const uint32_t slab : carved_) {
    slots += parts_.slots.classes().slots_per_slab(parts_.slots.class_of_slab(slab));
  }
  parts_.table.presize(slots);

  std::vector<Tally> tallies(report.threads);
  {
    std::vector<std::jthread> threads;
    threads.reserve(tallies.size());
    for (Tally& tally : tallies) {
      threads.emplace_back([this, &tally] { scan(&tally); });
    }
  }
  uint64_t highest_cas = 0;
  for (const Tally& tally : tallies) {
    add_up(tally.report, &report);
    parts_.population.add(tally.share);
    highest_cas = std::max(highest_cas, tally.highest_cas);
    for (const SlotReference loser : tally.losers) {
      parts_.slots.meta(loser).begin(SlotState::kFree, 0);
    }
  }
  highest_cas_.store(highest_cas, std::memory_order_relaxed);
  for (const Tally& tally : tallies) {
    admit_chunked(tally.chunked, &report);
  }
  for (uint32_t i = 0; i < parts_.slots.classes().count(); ++i) {
    report.items += parts_.population.items(static_cast<SizeClass>(i));
    report.bytes += parts_.population.bytes(static_cast<SizeClass>(i));
  }
  parts_.region.persister().fence();
  for (const uint32_t slab : carved_) {
    parts_.allocator.adopt(slab);
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

void Recovery::read_directory(RecoveryReport* report) {
  // Without DAX nothing says in which order the pages of the last run reached the disk.
  report->discarded = parts_.region.last_run() == pmem::LastRun::kPowerLost &&
                      !parts_.region.survives_power_loss() &&
                      !parts_.options.salvage_after_power_loss;
  pmem::SlabDirectory& directory = parts_.region.directory();
  for (const pmem::SlabRange& range : parts_.region.slab_ranges()) {
    for (uint32_t slab = range.first; slab < range.first + range.count; ++slab) {
      pmem::SlabEntry entry;
      const auto health = directory.load(slab, &entry);
      const bool assigned = entry.state == pmem::SlabState::kAssigned;
      if (health == pmem::SlabDirectory::Health::kDamaged ||
          (assigned && entry.size_class >= parts_.slots.classes().count())) {
        ++report->damaged_slabs;
        entry = {};
        directory.store(slab, entry);
      } else if (assigned && report->discarded) {
        entry.state = pmem::SlabState::kFree;
        directory.store(slab, entry);
      } else if (health == pmem::SlabDirectory::Health::kRepaired) {
        directory.store(slab, entry);
      }
      parts_.pool.set_generation(slab, entry.generation);
      if (entry.state == pmem::SlabState::kAssigned) {
        parts_.slots.attach(slab, entry.size_class);
        carved_.push_back(slab);
      } else {
        parts_.pool.add_free(slab);
      }
    }
  }
  report->slabs = carved_.size();
}

void Recovery::scan(Tally* tally) {
  const RecordCheck check(parts_.slots, parts_.pool, parts_.region.checksum_seed());
  for (size_t next = next_slab_.fetch_add(1, std::memory_order_relaxed); next < carved_.size();
       next = next_slab_.fetch_add(1, std::memory_order_relaxed)) {
    scan_slab(carved_[next], check, tally);
  }
  // Retirements are durable before anything else happens to their slots.
  parts_.region.persister().fence();
}

void Recovery::scan_slab(uint32_t slab, const RecordCheck& check, Tally* tally) {
  const SizeClass size_class = parts_.slots.class_of_slab(slab);
  Bags::Chain chain;
  std::array<Candidate, kBatch> batch;
  size_t filled = 0;
  const auto enter_batch = [&] {
    for (size_t i = 0; i < filled; ++i) {
      enter(batch[i], tally, &chain);
    }
    filled = 0;
  };
  for (uint32_t i = 0; i < parts_.slots.classes().slots_per_slab(size_class); ++i) {
    const SlotReference slot = parts_.slots.slot_at(slab, size_class, i);
    switch (check.look_at(slot)) {
      case RecordCheck::Finding::kNoRecord:
        continue;
      case RecordCheck::Finding::kDamaged:
        ++tally->report.damaged_records;
        retire(slot);
        continue;
      case RecordCheck::Finding::kWhole:
        break;
    }
    const ItemView item(parts_.slots, slot);
    tally->highest_cas = std::max(tally->highest_cas, item.cas());
    if (item.cas() <= flush_epoch_) {
      ++tally->report.flushed;
      continue;
    }
    const HashedKey key = hash_key(item.key());
    parts_.table.prefetch_for_store(key.hash);
    batch[filled++] = {.slot = slot, .hash = key.hash};
    if (filled == kBatch) {
      enter_batch();
    }
  }
  enter_batch();
  parts_.bags.admit(chain);
}

void Recovery::enter(const Candidate& candidate, Tally* tally, Bags::Chain* chain) {
  const ItemView item(parts_.slots, candidate.slot);
  SlotReference loser = kNoSlot;
  {
    HashTable::Stripe stripe(parts_.table, candidate.hash);
    const SlotReference other = stripe.find(
        [&](SlotReference slot) { return ItemView(parts_.slots, slot).key() == item.key(); });
    if (other == kNoSlot) {
      stripe.insert(candidate.slot);
    } else if (ItemView(parts_.slots, other).cas() < item.cas()) {
      stripe.replace(candidate.slot);
      loser = other;
    } else {
      loser = candidate.slot;
    }
    if (loser != kNoSlot) {
      retire(loser);
    }
  }
  if (loser != kNoSlot) {
    ++tally->report.superseded;
    tally->losers.push_back(loser);
    if (loser == candidate.slot) {
      return;
    }
    const ItemView lost(parts_.slots, loser);
    tally->share.remove(parts_.slots.class_of(loser), lost);
    tally->report.expired -= is_expired(lost) ? 1 : 0;
  }
  tally->share.add(parts_.slots.class_of(candidate.slot), item);
  tally->report.expired += is_expired(item) ? 1 : 0;

  if (item.chunked()) {
    tally->chunked.push_back(candidate.slot);
  } else {
    parts_.bags.prepare(candidate.slot, now_, chain);
  }
}

void Recovery::retire(SlotReference slot) {
  uint64_t& word = parts_.slots.word(slot);
  std::atomic_ref<uint64_t>(word).store(make_slot_word(0, 0, key_length_of(word), SlotKind::kFree),
                                        std::memory_order_relaxed);
  parts_.region.persister().flush(&word, sizeof word);
}

void Recovery::admit_chunked(const std::vector<SlotReference>& chunked, RecoveryReport* report) {
  for (const SlotReference slot : chunked) {
    const ItemView item(parts_.slots, slot);
    if (!item.chunked()) {
      continue;  // Superseded, and so retired.
    }
    bool chunks_are_free = true;
    for (uint32_t i = 0; i < item.segment_count(); ++i) {
      chunks_are_free &= parts_.slots.meta(item.chunk(i)).state() == SlotState::kFree;
    }
    if (chunks_are_free) {
      parts_.bags.admit(slot, now_);
    } else {
      drop(slot, report);
    }
  }
}

void Recovery::drop(SlotReference slot, RecoveryReport* report) {
  const ItemView item(parts_.slots, slot);
  const uint64_t hash = hash_key(item.key()).hash;
  HashTable::Stripe stripe(parts_.table, hash);
  if (stripe.find([slot](SlotReference other) { return other == slot; }) != kNoSlot) {
    stripe.erase();
  }
  parts_.population.remove(hash, parts_.slots.class_of(slot), item);
  report->expired -= is_expired(item) ? 1 : 0;
  ++report->damaged_records;
  retire(slot);
}

bool Recovery::is_expired(const ItemView& item) const {
  const uint32_t exptime = item.exptime();
  return exptime != 0 && exptime <= now_;
}

uint32_t Recovery::thread_count() const {
  const uint32_t wanted = parts_.options.recovery_threads;
  return wanted != 0 ? wanted : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace pmcached::engine
