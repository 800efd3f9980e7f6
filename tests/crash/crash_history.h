#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/cache_fixture.h"

namespace pmcached::tests {

/// What one operation did to the cache, as the client saw it.
struct OperationEffect {
  std::string name;
  std::string key;        ///< empty: concerns all keys
  bool is_store = false;  ///< in flight, it may leave its key without a value
  bool is_flush = false;  ///< in flight, it has happened to all keys or to none
  bool is_time = false;   ///< has happened even if it did not come to its end
  std::map<std::string, std::optional<Item>> changes;  ///< nothing = gone
  uint64_t highest_cas = 0;                            ///< ever seen up to its end
  int64_t wall = 0;                                    ///< the time at its end
};

/// A random run of all operations by one client, and everything a client may hold the cache to.
class CrashHistory {
 public:
  struct Mix {
    bool expiry = false;      ///< TTLs, and time that passes
    size_t large_share = 32;  ///< one value in so many is chunked
    size_t large_bytes = 700'000;
    uint32_t keys = 24;
  };

  CrashHistory(CacheFixture& cache, const Mix& mix, uint64_t seed)
      : cache_(cache), mix_(mix), random_(seed) {}

  /// Runs the next operation; its number in effects() is the count of those before.
  void run_one() {
    OperationEffect effect;
    const std::string key = key_of(pick(mix_.keys));
    effect.key = key;
    switch (pick(mix_.expiry ? 16 : 13)) {
      case 0:
      case 1:
      case 2:
        store(engine::StoreMode::kSet, key, &effect);
        break;
      case 3:
        store(engine::StoreMode::kAdd, key, &effect);
        break;
      case 4:
        store(engine::StoreMode::kReplace, key, &effect);
        break;
      case 5:
        store(engine::StoreMode::kCas, key, &effect);
        break;
      case 6:
        store(pick(2) == 0 ? engine::StoreMode::kAppend : engine::StoreMode::kPrepend, key,
              &effect);
        break;
      case 7:
      case 8:
        effect.name = "incr or decr";
        effect.is_store = true;
        cache_.add(key, pick(1'000'000), pick(3) != 0);
        break;
      case 9:
      case 10:
        effect.name = "delete";
        cache_.remove(key);
        break;
      case 11:
        effect.name = "touch";
        cache_.touch(key, expiry());
        break;
      case 12:
        effect.key.clear();
        if (pick(6) == 0) {
          effect.name = "flush_all";
          effect.is_flush = true;
          cache_.flush_all();
        }
        break;
      case 13:
        effect.name = "flush_all later";
        effect.key.clear();
        cache_.flush_all(static_cast<int64_t>(5 + pick(20)));
        break;
      default:
        effect.name = "a second passes";
        effect.is_time = true;
        effect.key.clear();
        cache_.advance(1);
    }
    note_changes(&effect);
    effect.wall = cache_.time.wall;
    effect.highest_cas = highest_cas_;
    effects_.push_back(std::move(effect));
  }
  const std::vector<OperationEffect>& effects() const { return effects_; }
  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (uint32_t i = 0; i < mix_.keys; ++i) {
      keys.push_back(key_of(i));
    }
    return keys;
  }

 private:
  static std::string key_of(uint64_t number) {
    return "key:" + std::to_string(number) + std::string(number * 4 % 240, '.');
  }
  uint64_t pick(uint64_t below) { return random_() % below; }
  int64_t expiry() { return !mix_.expiry || pick(2) == 0 ? 0 : static_cast<int64_t>(pick(12)) - 1; }
  std::string value() {
    if (pick(mix_.large_share) == 0) {
      return std::string(mix_.large_bytes + pick(mix_.large_bytes), static_cast<char>(random_()));
    }
    if (pick(3) == 0) {
      return std::to_string(random_());
    }
    std::string bytes(pick(4) == 0 ? pick(40'000) : pick(300), '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random_());
    }
    return bytes;
  }
  void store(engine::StoreMode mode, const std::string& key, OperationEffect* effect) {
    effect->name = "store of mode " + std::to_string(static_cast<int>(mode));
    effect->is_store = true;
    const auto known = known_.find(key);
    uint64_t cas = 0;
    if (cache_.store(mode, key, value(), random_(), expiry(),
                     known == known_.end() ? 0 : known->second.cas,
                     &cas) == engine::Outcome::kStored) {
      highest_cas_ = std::max(highest_cas_, cas);
    }
  }
  /// Compares the whole cache with what it held before the operation.
  void note_changes(OperationEffect* effect) {
    for (const std::string& key : keys()) {
      const engine::Session::Turn turn(cache_.session());
      engine::ItemView view;
      const auto known = known_.find(key);
      if (!cache_.cache().get(cache_.session(), engine::hash_key(key), &view)) {
        if (known != known_.end()) {
          effect->changes[key] = std::nullopt;
          known_.erase(known);
        }
      } else if (known == known_.end() || known->second.cas != view.cas() ||
                 known->second.exptime != view.exptime()) {
        known_[key] = {.value = value_of(view),
                       .client_flags = view.client_flags(),
                       .cas = view.cas(),
                       .exptime = view.exptime()};
        effect->changes[key] = known_[key];
        highest_cas_ = std::max(highest_cas_, view.cas());
      }
    }
  }

  CacheFixture& cache_;
  Mix mix_;
  std::mt19937_64 random_;
  std::map<std::string, Item> known_;
  uint64_t highest_cas_ = 0;
  std::vector<OperationEffect> effects_;
};

}  // namespace pmcached::tests
