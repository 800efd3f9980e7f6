#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engine/cache.h"
#include "tests/support/cache_client.h"
#include "tests/support/randomness.h"

namespace pmcached::tests {

/// Calls `work(client, thread number, random numbers)` in `count` threads at once, each with a
/// client of its own, and waits for them. What they report by complain() fails the test, since
/// Catch2's own assertions belong to the main thread.
class ThreadTeam {
 public:
  using Random = std::mt19937_64;
  using Work = std::function<void(CacheClient&, uint32_t, Random&)>;

  ThreadTeam(engine::Cache& cache, uint64_t seed) : cache_(cache), seed_(seed) {}

  /// Adds a thread; run() starts them all.
  void add(Work work) { works_.push_back(std::move(work)); }
  void add(uint32_t count, const Work& work) {
    for (uint32_t i = 0; i < count; ++i) {
      add(work);
    }
  }
  void run() {
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < works_.size(); ++i) {
      threads.emplace_back([this, i] {
        CacheClient client(cache_);
        Random random(seed_ + i);
        works_[i](client, i, random);
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    works_.clear();
    INFO("seed " << seed_);
    INFO(complaints_.size() << " complaints, the first: "
                            << (complaints_.empty() ? "" : complaints_.front()));
    REQUIRE(complaints_.empty());
  }

  void complain(std::string sentence) {
    const std::lock_guard lock(mutex_);
    complaints_.push_back(std::move(sentence));
  }
  void expect(bool condition, const char* sentence) {
    if (!condition) {
      complain(sentence);
    }
  }

 private:
  engine::Cache& cache_;
  uint64_t seed_;
  std::vector<Work> works_;
  std::mutex mutex_;
  std::vector<std::string> complaints_;
};

}  // namespace pmcached::tests
