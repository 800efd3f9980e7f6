#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace pmcached::server {

/// Commands counted by the part of the key in front of a delimiter: `stats detail`.
///
/// Purpose: shows which application behind a shared cache asks for what.
/// Thread safety: all functions from any thread; counting takes a lock, but only while switched on.
/// Failure: at kMaxPrefixes prefixes, further ones are not counted, so that keys made up by a
/// client cannot fill the memory.
class PrefixStatistics {
 public:
  enum class Command { kGet, kSet, kDelete };

  PrefixStatistics(char delimiter, bool enabled) : delimiter_(delimiter), enabled_(enabled) {}

  void enable(bool on) { enabled_.store(on, std::memory_order_relaxed); }
  /// Relaxed: a command that runs while this changes may be counted or not.
  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }

  /// Counts one command if switched on. `hit` matters to kGet only. Keys without the delimiter are
  /// not counted.
  void count(Command command, std::string_view key, bool hit = false) {
    if (enabled()) {
      count_slowly(command, key, hit);
    }
  }
  /// The reply to `stats detail dump`: a line for each prefix, then END.
  std::string dump() const;
  /// Forgets everything.
  void clear();

  static constexpr size_t kMaxPrefixes = 65536;

 private:
  struct Counts {
    uint64_t gets = 0;
    uint64_t hits = 0;
    uint64_t sets = 0;
    uint64_t deletes = 0;
  };
  void count_slowly(Command command, std::string_view key, bool hit);

  const char delimiter_;
  std::atomic<bool> enabled_;
  mutable std::mutex mutex_;
  std::map<std::string, Counts, std::less<>> by_prefix_;
};

}  // namespace pmcached::server
