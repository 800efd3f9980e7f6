#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/cache.h"
#include "pmem/pool.h"
#include "pmem/region.h"

namespace pmcached::tests {

/// Time that only moves when a test says so.
struct ManualTime {
  int64_t wall = 1'700'000'000;
  int64_t monotonic = 1'000;

  engine::ClockSource source() {
    return {.wall_seconds = [this] { return wall; },
            .monotonic_seconds = [this] { return monotonic; }};
  }
  void advance(int64_t seconds) {
    wall += seconds;
    monotonic += seconds;
  }
};

/// Fails the test run with the status' sentence when it is not ok.
inline void require_ok(const Status& status) {
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    std::abort();
  }
}

/// What a get returned, as plain values.
struct Item {
  std::string value;
  uint64_t client_flags = 0;
  uint64_t cas = 0;
  uint32_t exptime = 0;

  friend bool operator==(const Item&, const Item&) = default;
};

/// A cache over a pool on tmpfs or over DRAM, with one session and a clock in the test's hand. The
/// calls are those of the engine, in the shape that tests want.
class CacheFixture {
 public:
  struct Config {
    uint64_t bytes = uint64_t{64} << 20;
    bool persistent = true;
    double growth_factor = 1.25;
    engine::Options options;
  };

  CacheFixture() : CacheFixture(Config{}) {}
  explicit CacheFixture(Config config) : config_(std::move(config)) {
    if (config_.persistent) {
      path_ = "/dev/shm/pmcached-test-" + std::to_string(getpid()) + "-" +
              std::to_string(next_number()) + ".pool";
    }
    open();
  }
  ~CacheFixture() {
    crash();
    if (!path_.empty()) {
      unlink(path_.c_str());
    }
  }
  CacheFixture(const CacheFixture&) = delete;
  CacheFixture& operator=(const CacheFixture&) = delete;

  void open() {
    auto classes = engine::make_size_classes(config_.growth_factor, 48);
    if (config_.persistent) {
      require_ok(pmem::open_pool({.path = path_, .bytes = config_.bytes, .slot_lines = classes},
                                 &region_));
    } else {
      require_ok(pmem::make_dram_region(config_.bytes, classes, &region_));
    }
    require_ok(engine::Cache::open(config_.options, *region_, time.source(), &cache_));
    session_ = cache_->open_session();
  }
  /// Stops as SIGTERM does, and starts again.
  void restart_cleanly() {
    session_.reset();
    cache_.reset();
    require_ok(region_->close_cleanly());
    region_.reset();
    open();
  }
  /// Lets go of the pool without marking a clean stop, as a crash would, and starts again.
  void restart_after_crash() {
    crash();
    open();
  }

  engine::Cache& cache() { return *cache_; }
  engine::Session& session() { return *session_; }
  pmem::Region& region() { return *region_; }
  const std::string& path() const { return path_; }

  engine::Outcome store(engine::StoreMode mode, std::string_view key, std::string_view value,
                        uint64_t client_flags = 0, int64_t exptime = 0, uint64_t expected_cas = 0) {
    const engine::Session::Turn turn(*session_);
    engine::PendingStore pending;
    const engine::Outcome begun =
        cache_->begin_store(*session_,
                            {.mode = mode,
                             .key = engine::hash_key(key),
                             .client_flags = client_flags,
                             .exptime = cache_->clock().absolute_expiry(exptime),
                             .length = static_cast<uint32_t>(value.size()),
                             .expected_cas = expected_cas},
                            &pending);
    if (begun != engine::Outcome::kStored) {
      return begun;
    }
    pending.write(value);
    return cache_->finish_store(*session_, &pending);
  }
  engine::Outcome set(std::string_view key, std::string_view value, uint64_t client_flags = 0,
                      int64_t exptime = 0) {
    return store(engine::StoreMode::kSet, key, value, client_flags, exptime);
  }
  std::optional<Item> get(std::string_view key) {
    const engine::Session::Turn turn(*session_);
    engine::ItemView view;
    if (!cache_->get(*session_, engine::hash_key(key), &view)) {
      return std::nullopt;
    }
    Item item{.value = {},
              .client_flags = view.client_flags(),
              .cas = view.cas(),
              .exptime = view.exptime()};
    for (uint32_t i = 0; i < view.segment_count(); ++i) {
      item.value += view.segment(i);
    }
    return item;
  }
  std::optional<std::string> value(std::string_view key) {
    const auto item = get(key);
    return item ? std::optional(item->value) : std::nullopt;
  }
  engine::Outcome remove(std::string_view key) {
    const engine::Session::Turn turn(*session_);
    return cache_->remove(*session_, engine::hash_key(key));
  }
  engine::Outcome touch(std::string_view key, int64_t exptime) {
    const engine::Session::Turn turn(*session_);
    return cache_->touch(*session_, engine::hash_key(key),
                         cache_->clock().absolute_expiry(exptime));
  }
  engine::Arithmetic add(std::string_view key, uint64_t delta, bool increment) {
    const engine::Session::Turn turn(*session_);
    return cache_->add(*session_, engine::hash_key(key), delta, increment);
  }
  void flush_all(int64_t delay = 0) {
    const engine::Session::Turn turn(*session_);
    cache_->flush_all(*session_, static_cast<uint32_t>(cache_->clock().now() + delay));
  }
  void advance(int64_t seconds) {
    time.advance(seconds);
    cache_->tick();
  }

  ManualTime time;

 private:
  static int next_number() {
    static int number = 0;
    return ++number;
  }
  void crash() {
    session_.reset();
    cache_.reset();
    region_.reset();
  }

  Config config_;
  std::string path_;
  std::unique_ptr<pmem::Region> region_;
  std::unique_ptr<engine::Cache> cache_;
  std::unique_ptr<engine::Session> session_;
};

}  // namespace pmcached::tests
