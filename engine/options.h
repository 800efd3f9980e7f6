#pragma once

#include <cstdint>
#include <vector>

namespace pmcached::engine {

/// What the engine can be told. Each has the default that fits most; units are in the names.
struct Options {
  /// Largest item, key and record header included, in bytes. 1 KiB to 1 GiB. Larger values allow
  /// larger items, which then take many chunks each. memcached's -I.
  uint64_t item_size_max_bytes = uint64_t{1} << 20;
  /// Whether a full cache makes room by evicting. false = stores fail instead. memcached's -M.
  bool evict_to_free = true;
  /// Whether CAS numbers are given out. false = every cas reads 0 in replies and cas commands are
  /// compared against 0; records still carry internal numbers. memcached's -C.
  bool cas_enabled = true;
  /// log2 of the initial number of hash buckets; raised to fit the items a recovery finds.
  uint32_t initial_hash_power = 16;
  /// Threads that recovery scans with; 0 = one per core.
  uint32_t recovery_threads = 0;
  /// After a power cut on a medium without DAX nobody knows which pages reached the disk: false =
  /// start empty, true = keep every record whose checksum verifies, though an older version of an
  /// item may then come back.
  bool salvage_after_power_loss = false;
};

/// The slot sizes, in 64-byte lines and ascending, of the size classes memcached's rules would
/// make: the smallest holds a record of `min_space_bytes` of key and value (-n), each next is
/// `growth_factor` (-f) times larger, rounded up to whole lines, the last is half a slab.
/// Preconditions: growth_factor > 1, min_space_bytes >= 1.
std::vector<uint32_t> make_size_classes(double growth_factor, uint32_t min_space_bytes);

}  // namespace pmcached::engine
