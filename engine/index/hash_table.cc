#include "engine/index/hash_table.h"

#include <algorithm>
#include <vector>

namespace pmcached::engine {
namespace {

uint32_t at_least_a_bucket_a_stripe(uint32_t power) {
  return std::max<uint32_t>(power, std::countr_zero(HashTable::kStripes));
}

}  // namespace

HashTable::HashTable(uint32_t initial_power, uint64_t max_items)
    : initial_power_(at_least_a_bucket_a_stripe(initial_power)),
      max_buckets_(std::max(uint64_t{1} << initial_power_, max_items / kLoad + 1)),
      buckets_(max_buckets_),
      shape_(shape_with(uint64_t{1} << initial_power_)),
      stripes_(std::make_unique<StripeState[]>(kStripes)) {
  max_buckets_ = std::min(max_buckets_, uint64_t{1} << std::min(63U, initial_power_ + kTagBits));
  buckets_.prefer_huge_pages();
}

SlotReference HashTable::guess(uint64_t hash) const {
  const Bucket& bucket = buckets_.data()[index_of(hash, bucket_count())];
  for (const std::atomic<uint64_t>& entry : bucket.entries) {
    // Relaxed: the caller only prefetches what it gets.
    const uint64_t value = entry.load(std::memory_order_relaxed);
    if (value != 0 && tag_of(value) == tag_for(hash)) {
      return slot_of(value);
    }
  }
  return kNoSlot;
}

HashTable::Stripe::Stripe(HashTable& table, uint64_t hash) NO_THREAD_SAFETY_ANALYSIS
    : table_(table),
      hash_(hash) {
  table_.stripe_of(hash).mutex.lock();
  // Relaxed: only a split of this stripe moves the bucket, and that took the same lock before.
  bucket_ = index_of(hash, table_.bucket_count());
}

HashTable::Stripe::~Stripe() NO_THREAD_SAFETY_ANALYSIS {
  table_.stripe_of(hash_).mutex.unlock();
}

void HashTable::Stripe::replace(SlotReference slot) {
  found_->store(make_entry(table_.tag_for(hash_), slot), std::memory_order_release);
}

void HashTable::Stripe::erase() {
  found_->store(0, std::memory_order_release);
  found_ = nullptr;
  auto& items = table_.stripe_of(hash_).items;
  items.store(items.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

bool HashTable::Stripe::insert(SlotReference slot) {
  table_.place(bucket_, make_entry(table_.tag_for(hash_), slot));
  auto& items = table_.stripe_of(hash_).items;
  const uint64_t count = items.load(std::memory_order_relaxed) + 1;
  items.store(count, std::memory_order_relaxed);
  return count * kStripes > table_.bucket_count() * (kLoad + 1);
}

void HashTable::place(uint64_t bucket_index, uint64_t entry) {
  Bucket* bucket = &buckets_.data()[bucket_index];
  for (;;) {
    for (std::atomic<uint64_t>& place : bucket->entries) {
      if (place.load(std::memory_order_relaxed) == 0) {
        place.store(entry, std::memory_order_release);
        return;
      }
    }
    Bucket* next = bucket->overflow.load(std::memory_order_relaxed);
    if (next == nullptr) {
      next = overflow_.take();
      bucket->overflow.store(next, std::memory_order_release);
    }
    bucket = next;
  }
}

uint64_t HashTable::size() const {
  uint64_t items = 0;
  for (uint32_t i = 0; i < kStripes; ++i) {
    items += stripes_[i].items.load(std::memory_order_relaxed);
  }
  return items;
}

uint64_t HashTable::memory_bytes() const {
  return (bucket_count() + overflow_.count()) * sizeof(Bucket);
}

void HashTable::grow() {
  // Adding up the stripes costs about as much as this many splits.
  constexpr uint64_t kSplitsPerLook = 256;
  bool more = true;
  while (more && size() > bucket_count() * kLoad) {
    growing_.store(true, std::memory_order_relaxed);
    for (uint64_t i = 0; i < kSplitsPerLook && more; ++i) {
      more = split_next();
    }
  }
  growing_.store(false, std::memory_order_relaxed);
}

bool HashTable::split_next() {
  const uint64_t added = bucket_count();
  if (added >= max_buckets_) {
    return false;
  }
  const uint64_t span = std::bit_floor(added);
  const uint64_t divided = added - span;
  // The tag bit that now decides between the two buckets.
  const int bit = std::countr_zero(span) - static_cast<int>(initial_power_);
  // Both buckets have the same low bits, so one stripe lock covers them.
  MutexLock lock(stripe_of(divided).mutex);
  const auto moves = [bit](uint64_t entry) {
    return entry != 0 && ((tag_of(entry) >> bit) & 1) != 0;
  };
  for (Bucket* bucket = &buckets_.data()[divided]; bucket != nullptr;
       bucket = bucket->overflow.load(std::memory_order_relaxed)) {
    for (const std::atomic<uint64_t>& entry : bucket->entries) {
      if (const uint64_t value = entry.load(std::memory_order_relaxed); moves(value)) {
        place(added, value);
      }
    }
  }
  shape_.store(shape_with(added + 1), std::memory_order_release);
  for (Bucket* bucket = &buckets_.data()[divided]; bucket != nullptr;
       bucket = bucket->overflow.load(std::memory_order_relaxed)) {
    for (std::atomic<uint64_t>& entry : bucket->entries) {
      if (moves(entry.load(std::memory_order_relaxed))) {
        // Release: a reader that acquires this zero sees the new bucket count.
        entry.store(0, std::memory_order_release);
      }
    }
  }
  close_up(divided);
  return true;
}

void HashTable::close_up(uint64_t bucket_index) {
  Bucket* head = &buckets_.data()[bucket_index];
  if (head->overflow.load(std::memory_order_relaxed) == nullptr) {
    return;
  }
  std::vector<std::atomic<uint64_t>*> places;
  size_t used = 0;
  for (Bucket* bucket = head; bucket != nullptr;
       bucket = bucket->overflow.load(std::memory_order_relaxed)) {
    for (std::atomic<uint64_t>& place : bucket->entries) {
      places.push_back(&place);
      used += place.load(std::memory_order_relaxed) == 0 ? 0 : 1;
    }
  }
  const size_t kept = std::max<size_t>(1, (used + Bucket::kEntries - 1) / Bucket::kEntries);
  std::vector<std::atomic<uint64_t>*> originals;
  auto hole = places.begin();
  for (size_t i = kept * Bucket::kEntries; i < places.size(); ++i) {
    if (const uint64_t entry = places[i]->load(std::memory_order_relaxed); entry != 0) {
      while ((*hole)->load(std::memory_order_relaxed) != 0) {
        ++hole;
      }
      (*hole)->store(entry, std::memory_order_release);
      originals.push_back(places[i]);
    }
  }
  shape_.store(shape_.load(std::memory_order_relaxed) | kClosedUp, std::memory_order_release);
  // Release, these and the cuts: a reader that acquires one of them sees the new shape.
  for (std::atomic<uint64_t>* original : originals) {
    original->store(0, std::memory_order_release);
  }
  Bucket* last = head;
  for (size_t i = 1; i < kept; ++i) {
    last = last->overflow.load(std::memory_order_relaxed);
  }
  while (Bucket* unused = last->overflow.load(std::memory_order_relaxed)) {
    last->overflow.store(unused->overflow.load(std::memory_order_relaxed),
                         std::memory_order_release);
    unused->overflow.store(nullptr, std::memory_order_release);
    overflow_.give_back(unused);
  }
}

void HashTable::presize(uint64_t items) {
  const uint64_t buckets = std::min(max_buckets_, items / kLoad + 1);
  shape_.store(shape_with(std::max(bucket_count(), buckets)), std::memory_order_release);
}

}  // namespace pmcached::engine
