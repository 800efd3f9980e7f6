#include "pmem/pool_growth.h"

#include <fmt/format.h>

#include "pmem/extent_plan.h"
#include "pmem/slab_sections.h"
#include "pmem/two_copies.h"

namespace pmcached::pmem {

Status plan_growth(const std::string& path, const Superblock& superblock, uint64_t pool_bytes,
                   Superblock* grown) {
  const uint64_t old_mib = superblock.pool_bytes >> 20;
  if (superblock.extent_count == kMaxExtents) {
    return {Status::Code::kInvalid,
            fmt::format("pool {} of {} MiB has grown as often as a pool can; start with -m {}, or "
                        "delete it to start with an empty cache",
                        path, old_mib, old_mib)};
  }
  const Extent extent = plan_extent(superblock.pool_bytes, pool_bytes - superblock.pool_bytes);
  if (extent.slab_count == 0) {
    return {Status::Code::kInvalid,
            fmt::format("pool {} has {} MiB and cannot grow by so little; start with -m {} or "
                        "larger, or with -m {}",
                        path, old_mib, old_mib + 2, old_mib)};
  }
  *grown = superblock;
  grown->pool_bytes = pool_bytes;
  grown->extents[grown->extent_count++] = extent;
  return {};
}

Status commit_growth(std::byte* base, PoolRoot* root, const Persister& persister,
                     Superblock* grown) {
  const Extent& extent = grown->extents[grown->extent_count - 1];
  SlabDirectory(sections_of(base, {&extent, 1}), persister).format();
  Status status = persister.sync(base + extent.offset, 2 * directory_copy_bytes(extent.slab_count));
  if (!status.ok()) return status;
  *grown = seal_after(grown->sequence, *grown);
  for (Superblock& copy : root->superblock) {
    write_copy(&copy, *grown, persister);
    status = persister.sync(&copy, sizeof(copy));
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace pmcached::pmem
