#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pmem/boot_id.h"
#include "pmem/file_system.h"
#include "pmem/object_pool.h"
#include "pmem/pool_inspection.h"
#include "pmem/pool_layout.h"
#include "pmem/region.h"
#include "pmem/status.h"

namespace pmcached::pmem {

/// A pool file as a Region: what the steps of open_pool() end in.
///
/// Purpose: owns the libpmemobj pool and, while opening, repairs what stands twice, commits a
/// growth and marks the pool as in use.
/// Thread safety, failure: as Region says. Destroying it without close_cleanly() leaves the pool as
/// a crash would.
class PoolRegion final : public Region {
 public:
  /// `grown`, if any, is what plan_growth() made; the file is that long already.
  static Status open(const std::string& path, const PoolInspection& inspection,
                     const std::optional<Superblock>& grown, std::unique_ptr<Region>* region);

  void mark_recovered() override;
  Status close_cleanly() override;

 private:
  PoolRegion(std::string path, ObjectPool pool, uint64_t root_page, Medium medium);

  Status open_superblock(const PoolInspection& inspection, const std::optional<Superblock>& grown);
  void open_directory();
  Status open_run_state();
  Status sync_root() const;

  std::string path_;
  ObjectPool pool_;
  PoolRoot* root_;
  Superblock superblock_{};
  BootId boot_id_;
};

}  // namespace pmcached::pmem
