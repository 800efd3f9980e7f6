#pragma once

#include <cstdint>

#include "pmem/pool_file.h"
#include "pmem/pool_layout.h"
#include "pmem/status.h"

namespace pmcached::pmem {

/// What a pool file says of itself, read without mapping it.
struct PoolInspection {
  Superblock superblock;          ///< the copy that counts; checked, so its values can be used
  uint64_t root_page = 0;         ///< offset of PoolRoot in the file
  uint64_t file_bytes = 0;        ///< at least superblock.pool_bytes
  bool allocator_intact = false;  ///< libpmemobj's own bytes are as creation left them
};

/// Reads and checks everything that opening relies on. Every refusal is one sentence; the codes are
/// open_pool()'s.
Status inspect_pool(const PoolFile& file, PoolInspection* inspection);

}  // namespace pmcached::pmem
