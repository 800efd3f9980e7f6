#pragma once

#include <memory>

#include "engine/cache.h"
#include "pmem/region.h"
#include "pmem/status.h"
#include "server/config/options.h"

namespace pmcached::server {

/// The region that the items live in and the cache over it, in the order they need each other.
///
/// Purpose: turns the options into the engine's and pmem's terms, and tells the log what was found.
/// Thread safety: opened and closed by the main thread, while there are no sessions.
/// Failure: opening and closing report by Status.
class Storage {
 public:
  /// Opens or creates the pool (-e), or reserves DRAM, and recovers the items.
  static Status open(const Options& options, std::unique_ptr<Storage>* storage);

  engine::Cache& cache() { return *cache_; }
  const pmem::Region& region() const { return *region_; }

  /// Stops the cache, marks a clean stop durably and releases the pool. Nothing but the destructor
  /// may follow. Without it, the stop counts as a crash.
  Status close();

 private:
  explicit Storage(std::unique_ptr<pmem::Region> region) : region_(std::move(region)) {}

  std::unique_ptr<pmem::Region> region_;
  std::unique_ptr<engine::Cache> cache_;
};

}  // namespace pmcached::server
