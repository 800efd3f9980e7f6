#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "engine/cache.h"
#include "pmem/pool.h"
#include "pmem/region.h"
#include "tests/support/cache_client.h"

namespace pmcached::tests {

/// Time that only moves when a test says so.
struct ManualTime {
  int64_t wall = 0;
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

/// A cache over a pool on tmpfs or over DRAM, with one client and a clock in the test's hand.
class CacheFixture : public CacheClient {
 public:
  struct Config {
    uint64_t bytes = uint64_t{64} << 20;
    bool persistent = true;
    std::string path;  ///< of the pool; empty = one of its own, which goes with the fixture
    int64_t wall = 1'700'000'000;  ///< the time at first
    double growth_factor = 1.25;
    engine::Options options;
  };

  CacheFixture() : CacheFixture(Config{}) {}
  explicit CacheFixture(Config config) : config_(std::move(config)), path_(config_.path) {
    time.wall = config_.wall;
    if (config_.persistent && path_.empty()) {
      path_ = "/dev/shm/pmcached-test-" + std::to_string(getpid()) + "-" +
              std::to_string(next_number()) + ".pool";
    }
    open();
  }
  ~CacheFixture() {
    let_go();
    if (config_.path.empty() && !path_.empty()) {
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
    attach(*cache_);
  }
  /// Stops as SIGTERM does.
  void stop_cleanly() {
    detach();
    cache_.reset();
    require_ok(region_->close_cleanly());
    region_.reset();
  }
  void restart_cleanly() {
    stop_cleanly();
    open();
  }
  /// Copies the pool file as SIGKILL at this moment would leave it: with every store made, and
  /// nothing that a stop adds.
  void save_image() { std::filesystem::copy_file(path_, path_ + ".image"); }
  /// Closes, and puts the saved image in the place of the pool.
  void kill_as_saved() {
    let_go();
    std::filesystem::rename(path_ + ".image", path_);
  }
  void kill() {
    save_image();
    kill_as_saved();
  }
  void restart_after_crash() {
    kill();
    open();
  }

  pmem::Region& region() { return *region_; }
  const std::string& path() const { return path_; }
  /// What the next open() uses.
  Config& config() { return config_; }

  void advance(int64_t seconds) {
    time.advance(seconds);
    cache().tick();
  }

  ManualTime time;

 private:
  static int next_number() {
    static int number = 0;
    return ++number;
  }
  void let_go() {
    detach();
    cache_.reset();
    region_.reset();
  }

  Config config_;
  std::string path_;
  std::unique_ptr<pmem::Region> region_;
  std::unique_ptr<engine::Cache> cache_;
};

}  // namespace pmcached::tests
