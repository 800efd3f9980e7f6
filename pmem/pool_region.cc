#include "pmem/pool_region.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "pmem/alignment.h"
#include "pmem/medium.h"
#include "pmem/pool_growth.h"
#include "pmem/slab_sections.h"
#include "pmem/superblock.h"
#include "pmem/two_copies.h"

namespace pmcached::pmem {
namespace {

/// `found` is nothing if both copies were damaged.
LastRun classify_last_run(const std::optional<RunState>& found, const BootId& boot_id) {
  if (!found) return LastRun::kPowerLost;
  // Creation writes version 1; every run writes further ones.
  if (found->clean == 1) return found->sequence == 1 ? LastRun::kNone : LastRun::kClean;
  return same_boot(found->boot_id, boot_id) ? LastRun::kProcessDied : LastRun::kPowerLost;
}

/// Both copies of a damaged run state are lost, so versions start anew, past creation's.
constexpr uint64_t kSequenceAfterDamage = 1;

}  // namespace

Status PoolRegion::open(const std::string& path, const PoolInspection& inspection,
                        const std::optional<Superblock>& grown, std::unique_ptr<Region>* region) {
  ObjectPool pool;
  if (Status status = open_object_pool(path, &pool); !status.ok()) return status;
  const uint64_t root_object = pmemobj_root(pool.get(), pmemobj_root_size(pool.get())).off;
  const auto base = reinterpret_cast<uintptr_t>(pool.get());
  if (align_up(root_object, kPageSize) != inspection.root_page || base % kPageSize != 0) {
    return {Status::Code::kIo,
            fmt::format("libpmemobj maps pool {} in another way than its header says; start again",
                        path)};
  }
  FileSystem file_system;
  if (Status status = inspect_file_system(path, &file_system); !status.ok()) return status;
  const uint64_t bytes = grown ? grown->pool_bytes : inspection.superblock.pool_bytes;
  const Medium medium = detect_medium(path, pool.get(), bytes);

  std::unique_ptr<PoolRegion> opened(
      new PoolRegion(path, std::move(pool), inspection.root_page, medium));
  opened->survives_power_loss_ = survives_power_cut(medium, file_system);
  opened->description_ = describe_medium(path, bytes, medium, file_system);
  if (!inspection.allocator_intact) {
    opened->findings_.push_back(
        "libpmemobj's own metadata is damaged, though it still opens; no item is affected, but the "
        "pool should be replaced");
  }
  if (Status status = opened->open_superblock(inspection, grown); !status.ok()) return status;
  opened->open_directory();
  if (Status status = opened->open_run_state(); !status.ok()) return status;
  *region = std::move(opened);
  return {};
}

PoolRegion::PoolRegion(std::string path, ObjectPool pool, uint64_t root_page, Medium medium)
    : Region(medium),
      path_(std::move(path)),
      pool_(std::move(pool)),
      root_(reinterpret_cast<PoolRoot*>(base_of(pool_) + root_page)),
      boot_id_(read_boot_id()) {
  base_ = base_of(pool_);
}

Status PoolRegion::open_superblock(const PoolInspection& inspection,
                                   const std::optional<Superblock>& grown) {
  const std::span<Superblock, 2> copies(root_->superblock);
  const CopyChoice<Superblock> choice = choose_copy(std::span<const Superblock, 2>(copies));
  if (!choice.newest || choice.newest->sequence != inspection.superblock.sequence) {
    return {Status::Code::kBusy,
            fmt::format("another server changed pool {} just now; start again", path_)};
  }
  superblock_ = *choice.newest;
  if (choice.any_damaged) {
    findings_.push_back("one copy of the superblock was damaged; it was restored from the other");
  }
  equalise_copies(copies, superblock_, persister_);
  if (grown) {
    superblock_ = *grown;
    Status status = commit_growth(base_, root_, persister_, &superblock_);
    if (!status.ok()) return status;
  } else if (inspection.file_bytes >= superblock_.pool_bytes + kSlabSize) {
    findings_.push_back(fmt::format(
        "the file has {} MiB more than the pool, from a growth that was cut short or from outside; "
        "start with -m {} to use them",
        (inspection.file_bytes - superblock_.pool_bytes) >> 20, inspection.file_bytes >> 20));
  }
  bytes_ = superblock_.pool_bytes;
  checksum_seed_ = checksum_seed_of(superblock_);
  slot_lines_.assign(superblock_.slot_lines.begin(),
                     superblock_.slot_lines.begin() + superblock_.size_class_count);
  return {};
}

void PoolRegion::open_directory() {
  const std::span extents(superblock_.extents.data(), superblock_.extent_count);
  for (const Extent& extent : extents) {
    slab_ranges_.push_back({.first = extent.first_slab, .count = extent.slab_count});
  }
  directory_ = std::make_unique<SlabDirectory>(sections_of(base_, extents), persister_);
  const SlabDirectory::Repairs repairs = directory_->repair();
  if (repairs.repaired > 0) {
    findings_.push_back(
        fmt::format("{} words of the slab directory were damaged; they were restored from their "
                    "other copy",
                    repairs.repaired));
  }
  if (repairs.damaged > 0) {
    findings_.push_back(
        fmt::format("both directory words of {} slabs are damaged; what those slabs held is lost",
                    repairs.damaged));
  }
}

Status PoolRegion::open_run_state() {
  const std::span<RunState, 2> copies(root_->run_state);
  const CopyChoice<RunState> choice = choose_copy(std::span<const RunState, 2>(copies));
  last_run_ = classify_last_run(choice.newest, boot_id_);
  RunState current = choice.newest.value_or(RunState{.sequence = kSequenceAfterDamage});
  if (!choice.newest) {
    findings_.push_back(
        "both copies of the run state were damaged; the last run counts as ended by a power cut, "
        "and items that a flush_all had removed may be back");
  } else {
    if (choice.any_damaged) {
      findings_.push_back("one copy of the run state was damaged; it was restored from the other");
    }
    equalise_copies(copies, current, persister_);
  }
  run_state_ = std::make_unique<RunStateStore>(copies, current, persister_);
  run_state_->update([this](RunState& state) {
    state.clean = 0;
    // After a power cut the old id stays until mark_recovered(), or a crash before that would pass
    // for a mere end of the process.
    if (last_run_ != LastRun::kPowerLost) state.boot_id = boot_id_;
  });
  return sync_root();
}

void PoolRegion::mark_recovered() {
  if (last_run_ != LastRun::kPowerLost) return;
  run_state_->update([this](RunState& state) { state.boot_id = boot_id_; });
}

Status PoolRegion::close_cleanly() {
  // The data first: the mark must not reach the disk before what it vouches for.
  Status status = persister_.sync(base_, bytes_);
  if (!status.ok()) {
    return {status.code(), fmt::format("pool {}: {}", path_, status.message())};
  }
  run_state_->update([this](RunState& state) {
    state.clean = 1;
    state.boot_id = boot_id_;
  });
  return sync_root();
}

Status PoolRegion::sync_root() const {
  Status status = persister_.sync(root_, sizeof(*root_));
  if (status.ok()) return status;
  return {status.code(), fmt::format("pool {}: {}", path_, status.message())};
}

}  // namespace pmcached::pmem
