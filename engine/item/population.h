#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "engine/item/item_view.h"
#include "engine/item/record_writer.h"
#include "engine/slab/size_class.h"
#include "pmem/pool_layout.h"

namespace pmcached::engine {

/// How many items, and bytes of items, the index holds, by size class.
///
/// Purpose: gauges for statistics. Spread over shards by hash, so that writers of different stripes
/// seldom share a line. Relaxed throughout: the sums order nothing.
/// Thread safety: all functions from any thread.
class Population {
 public:
  void add(uint64_t hash, SizeClass size_class, const ItemView& item) {
    change(hash, size_class, 1, record_bytes(item));
  }
  void remove(uint64_t hash, SizeClass size_class, const ItemView& item) {
    change(hash, size_class, -1, -record_bytes(item));
  }

  /// What one thread has counted on its own; may be negative. Not thread safe.
  class Share {
   public:
    void add(SizeClass size_class, const ItemView& item) {
      counts_[size_class].items += 1;
      counts_[size_class].bytes += record_bytes(item);
    }
    void remove(SizeClass size_class, const ItemView& item) {
      counts_[size_class].items -= 1;
      counts_[size_class].bytes -= record_bytes(item);
    }

   private:
    friend class Population;
    struct Count {
      int64_t items = 0;
      int64_t bytes = 0;
    };
    std::array<Count, pmem::kMaxSizeClasses> counts_{};
  };
  void add(const Share& share) {
    for (size_t i = 0; i < share.counts_.size(); ++i) {
      change(0, static_cast<SizeClass>(i), share.counts_[i].items, share.counts_[i].bytes);
    }
  }

  uint64_t items(SizeClass size_class) const { return sum(size_class, &Count::items); }
  /// Header, key and value of all items.
  uint64_t bytes(SizeClass size_class) const { return sum(size_class, &Count::bytes); }

 private:
  static constexpr size_t kShards = 16;
  struct Count {
    std::atomic<int64_t> items{0};
    std::atomic<int64_t> bytes{0};
  };

  static int64_t record_bytes(const ItemView& item) {
    return static_cast<int64_t>(RecordWriter::inline_bytes(item.key().size(), item.size()));
  }
  void change(uint64_t hash, SizeClass size_class, int64_t items, int64_t bytes) {
    Count& count = shards_[hash % kShards][size_class];
    count.items.fetch_add(items, std::memory_order_relaxed);
    count.bytes.fetch_add(bytes, std::memory_order_relaxed);
  }
  uint64_t sum(SizeClass size_class, std::atomic<int64_t> Count::*field) const {
    int64_t total = 0;
    for (const auto& shard : shards_) {
      total += (shard[size_class].*field).load(std::memory_order_relaxed);
    }
    return static_cast<uint64_t>(total);
  }

  std::array<std::array<Count, pmem::kMaxSizeClasses>, kShards> shards_;
};

}  // namespace pmcached::engine
