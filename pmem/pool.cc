#include "pmem/pool.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "pmem/file_system.h"
#include "pmem/object_pool.h"
#include "pmem/pool_creation.h"
#include "pmem/pool_file.h"
#include "pmem/pool_growth.h"
#include "pmem/pool_inspection.h"
#include "pmem/pool_region.h"
#include "pmem/superblock.h"

namespace pmcached::pmem {
namespace {

constexpr uint64_t kMinPoolMib = kMinPoolBytes >> 20;
// Half of the extent table for creation, the other half for growth, whose extents have any size.
constexpr uint64_t kMaxNewPoolBytes = kMaxExtents / 2 * (uint64_t{16} << 30);

Status check_wanted_size(const std::string& path, uint64_t bytes) {
  if (bytes != 0 && bytes < kMinPoolBytes) {
    return {Status::Code::kInvalid,
            fmt::format("pool {} cannot have {} bytes; start with -m {} or larger", path, bytes,
                        kMinPoolMib)};
  }
  if (bytes > kMaxPoolBytes) {
    return {Status::Code::kInvalid,
            fmt::format("pool {} cannot have {} MiB; start with -m {} or smaller", path,
                        bytes >> 20, kMaxPoolBytes >> 20)};
  }
  return {};
}

Status create_missing_pool(const PoolOptions& options, uint64_t bytes) {
  if (bytes == 0) {
    return {Status::Code::kInvalid,
            fmt::format("pool {} does not exist and no size was given to create it with; start "
                        "with -m {} or larger",
                        options.path, kMinPoolMib)};
  }
  if (bytes > kMaxNewPoolBytes) {
    return {Status::Code::kInvalid,
            fmt::format("a new pool cannot have {} MiB; create {} with -m {} and then start again "
                        "with more, which lets it grow",
                        bytes >> 20, options.path, kMaxNewPoolBytes >> 20)};
  }
  if (Status status = check_slot_lines(options.slot_lines); !status.ok()) return status;
  return create_pool(options.path, bytes, options.slot_lines);
}

Status refuse_shrinking(const std::string& path, uint64_t pool_bytes) {
  const uint64_t mib = pool_bytes >> 20;
  return {Status::Code::kInvalid,
          fmt::format("pool {} has {} MiB; start with -m {} or larger, or without -m, or delete it "
                      "to start over with an empty cache",
                      path, mib, mib)};
}

/// Everything that is done with the file under our own lock, before libpmemobj takes it.
Status prepare_pool(PoolFile file, uint64_t wanted_bytes, PoolInspection* inspection,
                    std::optional<Superblock>* grown) {
  if (Status status = inspect_pool(file, inspection); !status.ok()) return status;
  const uint64_t pool_bytes = inspection->superblock.pool_bytes;
  if (wanted_bytes == 0 || wanted_bytes == pool_bytes) return file.allocate(pool_bytes);
  if (wanted_bytes < pool_bytes) return refuse_shrinking(file.path(), pool_bytes);
  Superblock plan;
  Status status = plan_growth(file.path(), inspection->superblock, wanted_bytes, &plan);
  if (!status.ok()) return status;
  *grown = plan;
  return file.allocate(wanted_bytes);
}

}  // namespace

Status open_pool(const PoolOptions& options, std::unique_ptr<Region>* region) {
  const uint64_t bytes = options.bytes / kSlabSize * kSlabSize;
  Status status = check_wanted_size(options.path, options.bytes);
  if (!status.ok()) return status;

  PoolFile file;
  status = PoolFile::open(options.path, &file);
  if (!status.ok() && status.code() == Status::Code::kNotFound) {
    status = create_missing_pool(options, bytes);
    if (status.ok()) status = PoolFile::open(options.path, &file);
  }
  if (!status.ok()) return status;

  PoolInspection inspection;
  std::optional<Superblock> grown;
  status = prepare_pool(std::move(file), bytes, &inspection, &grown);
  if (!status.ok()) return status;
  if (!inspection.allocator_intact) {
    status = try_object_pool(options.path);
    if (!status.ok()) return status;
  }
  return PoolRegion::open(options.path, inspection, grown, region);
}

}  // namespace pmcached::pmem
