#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "engine/cache.h"
#include "engine/slab/size_class.h"
#include "tests/support/cache_client.h"
#include "tests/support/cache_fixture.h"

namespace pmcached::tests {

/// Waits until `condition()` holds; fails the test if it does not within half a minute.
template <typename Condition>
void wait_until(const char* what, Condition&& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    INFO("waiting until " << what);
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// The items that gets find under `keys`.
inline std::map<std::string, Item> contents(CacheClient& client,
                                            const std::vector<std::string>& keys) {
  std::map<std::string, Item> items;
  for (const std::string& key : keys) {
    if (auto item = client.get(key)) {
      items.emplace(key, std::move(*item));
    }
  }
  return items;
}

/// Slots that the items under `keys` take, by size class, computed from their sizes alone.
inline std::vector<uint64_t> slots_taken(CacheFixture& fixture,
                                         const std::vector<std::string>& keys) {
  const engine::SizeClasses classes(fixture.region().slot_lines());
  std::vector<uint64_t> taken(classes.count());
  for (const std::string& key : keys) {
    const engine::Session::Turn turn(fixture.session());
    engine::ItemView view;
    if (!fixture.cache().get(fixture.session(), engine::hash_key(key), &view)) {
      continue;
    }
    uint64_t record_bytes = sizeof(engine::RecordHeader) + key.size();
    if (view.chunked()) {
      for (uint32_t i = 0; i < view.segment_count(); ++i) {
        ++taken[classes.class_for(view.segment(i).size() + engine::kChunkHeaderBytes)];
      }
      record_bytes += uint64_t{view.segment_count()} * engine::kChunkListEntryBytes;
    } else {
      record_bytes += view.size();
    }
    ++taken[classes.class_for(record_bytes)];
  }
  return taken;
}

/// Every slot is either free or part of an item under `keys`, and the item count is theirs: nothing
/// leaked, nothing is held twice. `keys` are all that were ever used.
inline void require_slots_add_up(CacheFixture& fixture, const std::vector<std::string>& keys) {
  wait_until("every slot is free or part of an item", [&] {
    const std::vector<uint64_t> taken = slots_taken(fixture, keys);
    const engine::CacheStats stats = fixture.cache().stats();
    for (size_t i = 0; i < taken.size(); ++i) {
      if (stats.classes[i].used_slots != taken[i]) {
        return false;
      }
    }
    return stats.curr_items == contents(fixture, keys).size();
  });
}

/// Kills the cache and recovers it: whatever was there all the while must be there again, exactly,
/// and nothing else. Then deletes everything: every slot must become free.
inline void require_survives_kill(CacheFixture& fixture, const std::vector<std::string>& keys) {
  // What the cache evicts by itself while the file is copied may or may not be in it.
  const auto before = contents(fixture, keys);
  fixture.save_image();
  const auto after = contents(fixture, keys);
  fixture.kill_as_saved();
  fixture.config().options.evict_to_free = false;  // So that the comparison finds everything.
  fixture.open();
  const auto recovered = contents(fixture, keys);
  for (const auto& [key, item] : recovered) {
    INFO(key);
    REQUIRE(before.count(key) == 1);
    REQUIRE(before.at(key) == item);
  }
  for (const auto& [key, item] : after) {
    INFO(key);
    REQUIRE(recovered.count(key) == 1);
  }
  REQUIRE(fixture.cache().recovery().damaged_records == 0);
  REQUIRE(fixture.cache().recovery().damaged_slabs == 0);
}

inline void require_all_slots_free_after_deleting(CacheFixture& fixture,
                                                  const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    fixture.remove(key);
  }
  wait_until("every slot is free", [&] {
    const engine::CacheStats stats = fixture.cache().stats();
    for (const engine::ClassStats& of_class : stats.classes) {
      if (of_class.free_slots != of_class.total_slots) {
        return false;
      }
    }
    return stats.curr_items == 0 && stats.bytes == 0;
  });
}

/// The state every stress run must leave behind.
inline void require_consistent(CacheFixture& fixture, const std::vector<std::string>& keys) {
  require_slots_add_up(fixture, keys);
  if (!fixture.path().empty()) {
    require_survives_kill(fixture, keys);
    require_slots_add_up(fixture, keys);
  }
  require_all_slots_free_after_deleting(fixture, keys);
}

}  // namespace pmcached::tests
