#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/support/cache_fixture.h"
#include "tests/support/randomness.h"

namespace pmcached::tests {
namespace {

using engine::Outcome;
using engine::StoreMode;

/// What the cache must hold: a plain map with memcached's rules, written without any of the engine.
class Model {
 public:
  struct Entry {
    std::string value;
    uint64_t client_flags = 0;
    int64_t expires = 0;  ///< 0 = never
  };

  explicit Model(const ManualTime& time) : time_(time) {}

  Entry* find(const std::string& key) {
    const auto it = entries_.find(key);
    if (it == entries_.end()) {
      return nullptr;
    }
    if (it->second.expires != 0 && it->second.expires <= time_.wall) {
      entries_.erase(it);
      return nullptr;
    }
    return &it->second;
  }
  int64_t expiry(int64_t exptime) const {
    return exptime == 0 ? 0 : exptime < 0 ? 1 : time_.wall + exptime;
  }
  Outcome store(StoreMode mode, const std::string& key, const std::string& value, uint64_t flags,
                int64_t exptime, bool cas_matches) {
    Entry* entry = find(key);
    switch (mode) {
      case StoreMode::kAdd:
        if (entry != nullptr) return Outcome::kNotStored;
        break;
      case StoreMode::kReplace:
        if (entry == nullptr) return Outcome::kNotStored;
        break;
      case StoreMode::kAppend:
      case StoreMode::kPrepend:
        if (entry == nullptr) return Outcome::kNotStored;
        entry->value = mode == StoreMode::kAppend ? entry->value + value : value + entry->value;
        return Outcome::kStored;
      case StoreMode::kCas:
        if (entry == nullptr) return Outcome::kNotFound;
        if (!cas_matches) return Outcome::kExists;
        break;
      case StoreMode::kSet:
        break;
    }
    entries_[key] = {value, flags, expiry(exptime)};
    return Outcome::kStored;
  }
  void erase(const std::string& key) { entries_.erase(key); }
  void clear() { entries_.clear(); }
  const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  const ManualTime& time_;
  std::map<std::string, Entry> entries_;
};

/// One run of random operations against cache and model.
class Comparison {
 public:
  Comparison(CacheFixture::Config config, uint64_t seed)
      : cache_(std::move(config)), model_(cache_.time), random_(seed) {}

  void step() {
    const std::string key = "key:" + std::to_string(pick(200));
    switch (pick(16)) {
      case 0:
      case 1:
      case 2:
        store(StoreMode::kSet, key);
        break;
      case 3:
        store(StoreMode::kAdd, key);
        break;
      case 4:
        store(StoreMode::kReplace, key);
        break;
      case 5:
        store(StoreMode::kAppend, key);
        break;
      case 6:
        store(StoreMode::kPrepend, key);
        break;
      case 7:
        store(StoreMode::kCas, key);
        break;
      case 8:
      case 9:
        remove(key);
        break;
      case 10:
        touch(key);
        break;
      case 11:
      case 12:
        count(key);
        break;
      case 13:
        if (pick(8) == 0) cache_.advance(static_cast<int64_t>(pick(4)));
        break;
      case 14:
        if (pick(64) == 0) flush();
        break;
      default:
        compare(key);
    }
  }
  void compare_all() {
    for (int i = 0; i < 200; ++i) {
      compare("key:" + std::to_string(i));
    }
  }
  CacheFixture& cache() { return cache_; }

 private:
  uint64_t pick(uint64_t below) { return random_() % below; }
  std::string random_value() {
    const uint64_t kind = pick(20);
    if (kind == 0) return std::string(pick(1'500'000), static_cast<char>('a' + pick(26)));
    if (kind == 1) return "";
    if (kind < 6) return std::to_string(random_());
    std::string value(pick(3000), '\0');
    for (char& c : value) c = static_cast<char>(random_());
    return value;
  }
  int64_t random_exptime() {
    const uint64_t kind = pick(8);
    return kind == 0 ? -1 : kind == 1 ? static_cast<int64_t>(1 + pick(5)) : 0;
  }
  void store(StoreMode mode, const std::string& key) {
    const bool grows = mode == StoreMode::kAppend || mode == StoreMode::kPrepend;
    const std::string value = grows ? std::string(pick(50), 'x') : random_value();
    const uint64_t flags = random_();
    const int64_t exptime = random_exptime();
    const auto before = cache_.get(key);
    const bool right_cas = pick(3) != 0;
    const uint64_t cas = before ? before->cas + (right_cas ? 0 : 1) : 1;
    const Outcome expected = model_.store(mode, key, value, flags, exptime, right_cas);
    REQUIRE(cache_.store(mode, key, value, flags, exptime, cas) == expected);
    compare(key);
    if (expected == Outcome::kStored && before && model_.find(key) != nullptr) {
      REQUIRE(cache_.get(key)->cas > before->cas);
    }
  }
  void remove(const std::string& key) {
    const bool present = model_.find(key) != nullptr;
    model_.erase(key);
    REQUIRE(cache_.remove(key) == (present ? Outcome::kDeleted : Outcome::kNotFound));
  }
  void touch(const std::string& key) {
    const int64_t exptime = random_exptime();
    Model::Entry* entry = model_.find(key);
    REQUIRE(cache_.touch(key, exptime) ==
            (entry != nullptr ? Outcome::kTouched : Outcome::kNotFound));
    if (entry != nullptr) entry->expires = model_.expiry(exptime);
  }
  void count(const std::string& key) {
    Model::Entry* entry = model_.find(key);
    const bool increment = pick(2) == 0;
    const uint64_t delta = pick(2) == 0 ? pick(100) : random_();
    const engine::Arithmetic result = cache_.add(key, delta, increment);
    if (entry == nullptr) {
      REQUIRE(result.outcome == Outcome::kNotFound);
      return;
    }
    const bool digits = !entry->value.empty() && entry->value.size() <= 20 &&
                        entry->value.find_first_not_of("0123456789 ") == std::string::npos;
    if (!digits) {
      if (result.outcome == Outcome::kChanged) {
        // Values of random bytes that begin like a number; the parser has tests of its own.
        entry->value = cache_.get(key)->value;
      }
      return;
    }
    const uint64_t number = std::stoull(entry->value);
    const uint64_t expected = increment ? number + delta : (delta > number ? 0 : number - delta);
    REQUIRE(result.outcome == Outcome::kChanged);
    REQUIRE(result.value == expected);
    std::string text = std::to_string(expected);
    text.resize(std::max(text.size(), entry->value.size()), ' ');
    entry->value = text;
  }
  void flush() {
    model_.clear();
    cache_.flush_all();
  }
  void compare(const std::string& key) {
    const Model::Entry* expected = model_.find(key);
    const auto found = cache_.get(key);
    INFO("key " << key);
    REQUIRE(found.has_value() == (expected != nullptr));
    if (expected != nullptr) {
      REQUIRE(found->value == expected->value);
      REQUIRE(found->client_flags == expected->client_flags);
    }
  }

  CacheFixture cache_;
  Model model_;
  std::mt19937_64 random_;
};

CacheFixture::Config model_config(bool persistent) {
  CacheFixture::Config config;
  config.bytes = uint64_t{256} << 20;
  config.persistent = persistent;
  config.options.item_size_max_bytes = uint64_t{4} << 20;
  return config;
}

TEST_CASE("random operations on DRAM answer like a plain map") {
  const uint64_t seed = test_seed();
  INFO("seed " << seed);
  Comparison comparison(model_config(false), seed);
  for (int i = 0; i < rounds(20'000); ++i) comparison.step();
  comparison.compare_all();
}

TEST_CASE("random operations on a pool answer like a plain map, across clean stops and crashes") {
  const uint64_t seed = test_seed();
  INFO("seed " << seed);
  Comparison comparison(model_config(true), seed);
  for (int round = 0; round < rounds(40); ++round) {
    for (int i = 0; i < 500; ++i) comparison.step();
    if (round % 2 == 0) {
      comparison.cache().restart_cleanly();
    } else {
      comparison.cache().restart_after_crash();
    }
    comparison.compare_all();
  }
}

}  // namespace
}  // namespace pmcached::tests
