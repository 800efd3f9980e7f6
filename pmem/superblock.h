#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pmem/pool_layout.h"
#include "pmem/status.h"

namespace pmcached::pmem {

/// The superblock of a new pool, not sealed yet: random uuid, the time, no extents.
Superblock make_superblock(std::span<const uint32_t> slot_lines, uint64_t pool_bytes);

/// Checks an intact superblock of the pool at `path` before anything in it is used.
/// kIncompatible: another layout version or an unknown feature. kCorrupt: values that no version of
/// this program writes. `extents_from` is the first byte that an extent may have.
Status check_superblock(const std::string& path, const Superblock& superblock,
                        uint64_t extents_from);

/// kInvalid unless `slot_lines` is a size-class table: 1 to 63 classes, ascending, each of 1 line
/// to half a slab.
Status check_slot_lines(std::span<const uint32_t> slot_lines);

/// The start value of record checksums in the pool with this uuid.
uint32_t checksum_seed_of(const Superblock& superblock);

}  // namespace pmcached::pmem
