#include "server/runtime/storage.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "pmem/namespace_info.h"
#include "pmem/pool.h"
#include "server/runtime/recovery_summary.h"

namespace pmcached::server {
namespace {

engine::Options engine_options(const Options& options) {
  engine::Options result;
  result.item_size_max_bytes = options.item_size_max;
  result.evict_to_free = options.evictions;
  result.cas_enabled = options.cas_enabled;
  result.initial_hash_power = options.initial_hash_power;
  result.recovery_threads = options.recovery_threads;
  result.salvage_after_power_loss = options.salvage_after_power_loss;
  return result;
}

/// Bytes to ask of the pool: what -m says, else what an existing pool has, else the default.
uint64_t pool_bytes(const Options& options) {
  if (options.memory_bytes) {
    return *options.memory_bytes;
  }
  std::error_code ignored;
  return std::filesystem::exists(options.memory_file, ignored) ? 0 : kDefaultMemoryBytes;
}

Status open_region(const Options& options, std::unique_ptr<pmem::Region>* region) {
  std::vector<uint32_t> slot_lines =
      engine::make_size_classes(options.growth_factor, options.min_space);
  if (options.memory_file.empty()) {
    return pmem::make_dram_region(options.memory_bytes.value_or(kDefaultMemoryBytes),
                                  std::move(slot_lines), region);
  }
  const pmem::PoolOptions pool{options.memory_file, pool_bytes(options), slot_lines};
  if (Status status = pmem::open_pool(pool, region); !status.ok()) {
    return status;
  }
  spdlog::info("{}", pmem::describe_namespace(options.memory_file).explanation);
  if (!std::ranges::equal((*region)->slot_lines(), slot_lines)) {
    spdlog::info(
        "the pool keeps the {} size classes it was created with; -f and -n are for new pools",
        (*region)->slot_lines().size());
  }
  return {};
}

}  // namespace

Status Storage::open(const Options& options, std::unique_ptr<Storage>* storage) {
  std::unique_ptr<pmem::Region> region;
  if (Status status = open_region(options, &region); !status.ok()) {
    return status;
  }
  spdlog::info("{}", region->description());
  for (const std::string& finding : region->findings()) {
    spdlog::warn("{}", finding);
  }
  if (options.item_size_max > region->bytes() / 2) {
    return {Status::Code::kInvalid,
            fmt::format("-I,--max-item-size: must be at most half of the pool {}, which has {} MiB",
                        options.memory_file, region->bytes() >> 20)};
  }
  std::unique_ptr<Storage> result(new Storage(std::move(region)));
  if (Status status = engine::Cache::open(engine_options(options), *result->region_,
                                          engine::ClockSource::system(), &result->cache_);
      !status.ok()) {
    return status;
  }
  if (!options.memory_file.empty()) {
    spdlog::info("{}", summarize_recovery(result->region_->last_run(), result->cache_->recovery()));
  }
  *storage = std::move(result);
  return {};
}

Status Storage::close() {
  cache_.reset();
  Status status = region_->close_cleanly();
  region_.reset();
  return status;
}

}  // namespace pmcached::server
