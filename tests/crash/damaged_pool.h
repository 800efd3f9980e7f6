#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pmem/extent_plan.h"
#include "tests/support/cache_fixture.h"
#include "tests/support/slot_accounting.h"
#include "tests/unit/pmem_test_pool.h"

namespace pmcached::tests {

/// Where an item's bytes are in the pool file.
struct Place {
  uint64_t record = 0;           ///< offset of the record's slot
  std::vector<uint64_t> chunks;  ///< offsets of the chunks' slots
};

/// A pool with items, whose file can be damaged while it is closed.
class DamagedPool {
 public:
  explicit DamagedPool(CacheFixture::Config config = {}) : cache_(std::move(config)) {}

  CacheFixture& cache() { return cache_; }

  /// Stores an item and says where it has come to lie.
  Place store(const std::string& key, std::string_view value) {
    REQUIRE(cache_.set(key, value) == engine::Outcome::kStored);
    items_[key] = cache_.get(key).value();
    const engine::Session::Turn turn(cache_.session());
    engine::ItemView view;
    REQUIRE(cache_.cache().get(cache_.session(), engine::hash_key(key), &view));
    Place place{.record = view.slot() * pmem::kLineSize, .chunks = {}};
    for (uint32_t i = 0; view.chunked() && i < view.segment_count(); ++i) {
      place.chunks.push_back(view.chunk(i) * pmem::kLineSize);
    }
    return place;
  }
  void remove(const std::string& key) {
    REQUIRE(cache_.remove(key) == engine::Outcome::kDeleted);
    items_.erase(key);
  }

  void close() { cache_.stop_cleanly(); }
  /// The closed pool's file.
  pmem::test::RawFile file() const { return pmem::test::RawFile(cache_.path()); }
  void flip_bit(uint64_t offset, uint64_t bit) const {
    file().flip(offset + bit / 8, static_cast<uint8_t>(1U << (bit % 8)));
  }
  void overwrite(uint64_t offset, std::string_view bytes) const {
    file().write(offset, bytes.data(), bytes.size());
  }
  std::string read(uint64_t offset, size_t size) const {
    const auto bytes = file().read(offset, size);
    return {reinterpret_cast<const char*>(bytes.data()), size};
  }
  /// Offsets of the two directory words of a slab.
  std::pair<uint64_t, uint64_t> directory_words(uint64_t slab) const {
    const pmem::Superblock superblock = file().superblock();
    for (uint32_t i = 0; i < superblock.extent_count; ++i) {
      const pmem::Extent& extent = superblock.extents[i];
      if (slab >= extent.first_slab && slab < extent.first_slab + extent.slab_count) {
        const uint64_t offset = (slab - extent.first_slab) * sizeof(uint64_t);
        return {extent.directory_offset + offset, pmem::mirror_offset(extent) + offset};
      }
    }
    FAIL("no such slab");
    return {};
  }

  /// Opens the pool again: all items but `lost` must be there, exactly; the lost ones must not.
  const engine::RecoveryReport& reopen_without(const std::set<std::string>& lost) {
    cache_.open();
    for (const auto& [key, item] : items_) {
      INFO(key);
      if (lost.count(key) != 0) {
        REQUIRE_FALSE(cache_.get(key).has_value());
      } else {
        REQUIRE(cache_.get(key) == item);
      }
    }
    require_slots_add_up(cache_, keys());
    return cache_.cache().recovery();
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (const auto& [key, item] : items_) {
      keys.push_back(key);
    }
    return keys;
  }

 private:
  CacheFixture cache_;
  std::map<std::string, Item> items_;
};

}  // namespace pmcached::tests
