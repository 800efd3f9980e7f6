#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "pmem/pool_layout.h"
#include "pmem/region.h"

#if defined(__clang__)
#define PMCACHED_NO_TSAN __attribute__((no_sanitize("thread")))
#else
#define PMCACHED_NO_TSAN
#endif

namespace pmcached::tests {

/// A cache line of the pool and what it holds.
struct LineContent {
  uint64_t number = 0;  ///< offset in the pool divided by 64
  std::array<std::byte, pmem::kLineSize> bytes{};
  bool streamed = false;  ///< stored past the caches, so a cut may divide it

  const std::byte* word(size_t index) const { return bytes.data() + index * sizeof(uint64_t); }
};

/// One moment at which the power may go.
struct Moment {
  size_t operation = 0;  ///< in flight, as named by name_operation()
  /// What has become durable since the moment before, in order.
  std::vector<LineContent> made_durable;
  /// What was stored and may or may not have arrived.
  std::vector<LineContent> pending;
};

/// Watches a mapped pool and keeps apart what persistent memory guarantees from what it merely may
/// hold: a line is guaranteed once it was flushed or streamed and the same thread has drained
/// since.
///
/// Purpose: the moments from which a power cut simulation builds its pool files.
/// How: libpmem's functions, replaced for the whole test program (power_cut_test.cc), tell of
/// flushes, streamed stores and drains; at sampled ones the memory is compared with the guaranteed
/// image, so that stores which nobody ever flushed are found as well.
/// Thread safety: the on_...() functions from any thread; the rest from one.
class PersistenceRecorder {
 public:
  /// Starts with everything in the pool guaranteed. At every flush and drain a moment is recorded
  /// with the given chance.
  PersistenceRecorder(const pmem::Region& region, double chance, uint64_t seed)
      : base_(region.base()),
        bytes_(region.bytes()),
        chance_(chance),
        random_(seed),
        durable_(base_, base_ + bytes_) {
    for (size_t block = 0; block < region.slab_ranges().front().first; ++block) {
      blocks_.insert(block);
    }
    active().store(this, std::memory_order_release);
  }
  ~PersistenceRecorder() { stop(); }
  PersistenceRecorder(const PersistenceRecorder&) = delete;
  PersistenceRecorder& operator=(const PersistenceRecorder&) = delete;

  void stop() {
    active().store(nullptr, std::memory_order_release);
    const std::lock_guard wait_for_the_last(mutex_);
  }

  void name_operation(size_t number) {
    const std::lock_guard lock(mutex_);
    operation_ = number;
  }
  /// Precondition of these three: stopped.
  const std::vector<Moment>& moments() const { return moments_; }
  /// MiB of the pool that were written to, and those before the first slab.
  const std::set<size_t>& blocks() const { return blocks_; }
  size_t lines_guaranteed() const { return lines_guaranteed_; }

  /// The recorder that watches at present, if any.
  static std::atomic<PersistenceRecorder*>& active() {
    static std::atomic<PersistenceRecorder*> recorder{nullptr};
    return recorder;
  }
  void on_flush(const void* at, size_t size) { note(at, size, false); }
  void on_streamed(const void* at, size_t size) { note(at, size, true); }
  void on_drain() {
    const std::lock_guard lock(mutex_);
    sample();
    for (const LineContent& line : on_their_way_[std::this_thread::get_id()]) {
      std::memcpy(durable_.data() + line.number * pmem::kLineSize, line.bytes.data(),
                  pmem::kLineSize);
      streamed_.erase(line.number);
      made_durable_.push_back(line);
      ++lines_guaranteed_;
    }
    on_their_way_[std::this_thread::get_id()].clear();
  }

 private:
  void note(const void* at, size_t size, bool streamed) {
    const auto* first = static_cast<const std::byte*>(at);
    if (size == 0 || first < base_ || first >= base_ + bytes_) {
      return;
    }
    const auto offset = static_cast<uint64_t>(first - base_);
    const std::lock_guard lock(mutex_);
    for (uint64_t line = offset / pmem::kLineSize; line <= (offset + size - 1) / pmem::kLineSize;
         ++line) {
      blocks_.insert(line / pmem::kLinesPerSlab);
      if (streamed) {
        streamed_.insert(line);
      }
      on_their_way_[std::this_thread::get_id()].push_back(read(line));
    }
    if (!streamed) {
      sample();
    }
  }
  void sample() {
    if (std::uniform_real_distribution<>(0, 1)(random_) >= chance_) {
      return;
    }
    Moment moment{
        .operation = operation_, .made_durable = std::exchange(made_durable_, {}), .pending = {}};
    for (const size_t block : blocks_) {
      collect_pending(block, &moment.pending);
    }
    moments_.push_back(std::move(moment));
  }
  // Background threads may store meanwhile; each line is taken as it is met.
  PMCACHED_NO_TSAN void collect_pending(size_t block, std::vector<LineContent>* pending) const {
    const uint64_t last = std::min(bytes_ / pmem::kLineSize, (block + 1) * pmem::kLinesPerSlab);
    for (uint64_t line = block * pmem::kLinesPerSlab; line < last; ++line) {
      const auto* now = reinterpret_cast<const uint64_t*>(base_ + line * pmem::kLineSize);
      const auto* then =
          reinterpret_cast<const uint64_t*>(durable_.data() + line * pmem::kLineSize);
      uint64_t difference = 0;
      for (size_t word = 0; word < kWords; ++word) {
        difference |= now[word] ^ then[word];
      }
      if (difference != 0) {
        pending->push_back(read(line));
      }
    }
  }
  PMCACHED_NO_TSAN LineContent read(uint64_t line) const {
    LineContent content{.number = line, .bytes = {}, .streamed = streamed_.count(line) != 0};
    const auto* from = reinterpret_cast<const uint64_t*>(base_ + line * pmem::kLineSize);
    std::array<uint64_t, kWords> words{};
    for (size_t word = 0; word < kWords; ++word) {
      words[word] = from[word];
    }
    content.bytes = std::bit_cast<std::array<std::byte, pmem::kLineSize>>(words);
    return content;
  }

  static constexpr size_t kWords = pmem::kLineSize / sizeof(uint64_t);

  const std::byte* const base_;
  const uint64_t bytes_;
  const double chance_;
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::vector<std::byte> durable_;
  std::set<size_t> blocks_;
  std::set<uint64_t> streamed_;
  std::map<std::thread::id, std::vector<LineContent>> on_their_way_;
  std::vector<LineContent> made_durable_;
  size_t lines_guaranteed_ = 0;
  size_t operation_ = 0;
  std::vector<Moment> moments_;
};

}  // namespace pmcached::tests
