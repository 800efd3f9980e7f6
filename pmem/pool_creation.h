#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "pmem/status.h"

namespace pmcached::pmem {

/// Creates an empty pool of `bytes` bytes under `path`, which does not exist yet; when this
/// returns, the pool is durable and closed. What a cut or failure leaves behind has another name
/// ("<path>.creating"), which the next creation removes. If another server creates the pool
/// meanwhile, its pool is left alone and this succeeds.
///
/// Steps: lock the folder (one creation at a time); check the free space; build the pool under the
/// other name; make it durable; rename it; make the name durable. The rename is the commit point.
///
/// Precondition: `bytes` is a multiple of 1 MiB and at least kMinPoolBytes.
Status create_pool(const std::string& path, uint64_t bytes, std::span<const uint32_t> slot_lines);

}  // namespace pmcached::pmem
