#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pmem/persister.h"
#include "pmem/pool_layout.h"
#include "pmem/run_state_store.h"
#include "pmem/slab_directory.h"
#include "pmem/status.h"

namespace pmcached::pmem {

/// Slabs [first, first + count).
struct SlabRange {
  uint32_t first = 0;
  uint32_t count = 0;
};

/// How the previous run of a region ended, as far as opening it can tell.
enum class LastRun {
  kNone,         ///< the region is new and empty
  kClean,        ///< stopped cleanly: every store is in place
  kProcessDied,  ///< same boot: the process died, every store it made is in place
  kPowerLost,    ///< another boot: lines that were not fenced may be old, new or torn
};

/// Memory that slabs are carved from: a persistent pool or anonymous DRAM behind one contract, so
/// that the engine cannot tell them apart.
///
/// Purpose: the addresses of the slabs, the directory that describes them, the run state and the
/// persister that makes stores to them durable.
/// Thread safety: after opening everything here is read-only; directory() and run_state() say
/// their own rules.
/// Ownership: owns the mapping; every pointer into it dies with the region.
/// Failure: opening reports by Status; afterwards nothing here fails but close().
class Region {
 public:
  virtual ~Region() = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  /// Start of the mapping, aligned to 4096: offset 0 of every slab number and slot reference.
  std::byte* base() const { return base_; }
  /// The usable slabs, ascending and disjoint.
  std::span<const SlabRange> slab_ranges() const { return slab_ranges_; }
  /// One past the highest slab number in use: the size for arrays indexed by slab number.
  uint32_t slab_limit() const {
    return slab_ranges_.empty() ? 0 : slab_ranges_.back().first + slab_ranges_.back().count;
  }
  /// Bytes given to the region in all (the file size, or the DRAM reserved).
  uint64_t bytes() const { return bytes_; }
  /// Slot size in lines by size class. A pool's table is fixed at its creation.
  std::span<const uint32_t> slot_lines() const { return slot_lines_; }
  /// Start value of every record checksum: differs by pool, so no client can forge a record.
  uint32_t checksum_seed() const { return checksum_seed_; }

  LastRun last_run() const { return last_run_; }
  /// Whether fenced stores survive a power cut here.
  bool survives_power_loss() const { return survives_power_loss_; }
  /// One sentence for the log: the medium, and which failures this region survives.
  const std::string& description() const { return description_; }
  /// What opening found damaged and repaired or dropped, a sentence each; empty when all is well.
  const std::vector<std::string>& findings() const { return findings_; }

  const Persister& persister() const { return persister_; }
  SlabDirectory& directory() { return *directory_; }
  RunStateStore& run_state() { return *run_state_; }

  /// To be called once when everything that last_run() put in doubt has been verified or dropped,
  /// durably. Until then a further crash is reported as kPowerLost again, even within one boot,
  /// since the memory still holds what the power cut left.
  virtual void mark_recovered() {}

  /// Marks a clean stop durably (and syncs where that takes a system call). Afterwards no store
  /// may be made to the region. Closing without it counts as a crash at the next open.
  virtual Status close_cleanly() = 0;

 protected:
  explicit Region(Medium medium) : persister_(medium) {}

  std::byte* base_ = nullptr;
  std::vector<SlabRange> slab_ranges_;
  uint64_t bytes_ = 0;
  std::vector<uint32_t> slot_lines_;
  uint32_t checksum_seed_ = kCrc32cStartForDram;
  LastRun last_run_ = LastRun::kNone;
  bool survives_power_loss_ = false;
  std::string description_;
  std::vector<std::string> findings_;
  Persister persister_;
  std::unique_ptr<SlabDirectory> directory_;
  std::unique_ptr<RunStateStore> run_state_;

 private:
  static constexpr uint32_t kCrc32cStartForDram = 0xffffffffU;
};

/// Anonymous DRAM of `bytes` (rounded down to whole slabs), reserved but not touched.
/// `slot_lines` is the size-class table. Fails with kNoSpace when the address space is refused.
Status make_dram_region(uint64_t bytes, std::vector<uint32_t> slot_lines,
                        std::unique_ptr<Region>* region);

}  // namespace pmcached::pmem
