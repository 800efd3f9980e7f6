#include "pmem/superblock.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <random>

#include "pmem/checksum.h"
#include "pmem/extent_plan.h"

namespace pmcached::pmem {
namespace {

Status check_feature_word(const std::string& path, const char* word, uint64_t bits) {
  if (bits == 0) return {};
  return {Status::Code::kIncompatible,
          fmt::format("pool {} uses {} feature bit {}, which this program does not know; open it "
                      "with the newer pmcached that wrote it, or delete it to start with an empty "
                      "cache",
                      path, word, std::countr_zero(bits))};
}

Status check_version(const std::string& path, const Superblock& superblock) {
  if (superblock.layout_version != kLayoutVersion) {
    const bool newer = superblock.layout_version > kLayoutVersion;
    return {
        Status::Code::kIncompatible,
        fmt::format("pool {} has layout version {}, this program reads version {}; open it "
                    "with the {} pmcached that wrote it, or delete it to start with an empty "
                    "cache",
                    path, superblock.layout_version, kLayoutVersion, newer ? "newer" : "older")};
  }
  // No feature bit is defined yet, so every bit set is an unknown one. A pool is never opened just
  // for reading, so read_only_compatible bits forbid opening as well.
  Status status = check_feature_word(path, "incompatible", superblock.features.incompatible);
  if (!status.ok()) return status;
  return check_feature_word(path, "read_only_compatible", superblock.features.read_only_compatible);
}

std::string find_fault(const Superblock& superblock, uint64_t extents_from) {
  if (superblock.magic != kPoolMagic) return fmt::format("its magic is {:#x}", superblock.magic);
  if (superblock.slab_bytes != kSlabSize || superblock.line_bytes != kLineSize) {
    return fmt::format("slabs of {} bytes and lines of {}", superblock.slab_bytes,
                       superblock.line_bytes);
  }
  if (superblock.pool_bytes < kMinPoolBytes || superblock.pool_bytes > kMaxPoolBytes) {
    return fmt::format("a pool of {} bytes", superblock.pool_bytes);
  }
  if (superblock.size_class_count > kMaxSizeClasses) {
    return fmt::format("{} size classes", superblock.size_class_count);
  }
  const std::span slot_lines(superblock.slot_lines.data(), superblock.size_class_count);
  if (Status status = check_slot_lines(slot_lines); !status.ok()) return status.message();
  if (superblock.extent_count == 0 || superblock.extent_count > kMaxExtents) {
    return fmt::format("{} extents", superblock.extent_count);
  }
  return find_extent_fault({superblock.extents.data(), superblock.extent_count}, extents_from,
                           superblock.pool_bytes);
}

}  // namespace

Superblock make_superblock(std::span<const uint32_t> slot_lines, uint64_t pool_bytes) {
  Superblock superblock{};
  superblock.magic = kPoolMagic;
  superblock.layout_version = kLayoutVersion;
  std::random_device random;
  for (uint8_t& byte : superblock.uuid) byte = static_cast<uint8_t>(random());
  superblock.created_at = static_cast<uint64_t>(std::time(nullptr));
  superblock.pool_bytes = pool_bytes;
  superblock.slab_bytes = kSlabSize;
  superblock.line_bytes = kLineSize;
  superblock.size_class_count = static_cast<uint32_t>(slot_lines.size());
  std::copy(slot_lines.begin(), slot_lines.end(), superblock.slot_lines.begin());
  return superblock;
}

Status check_superblock(const std::string& path, const Superblock& superblock,
                        uint64_t extents_from) {
  if (Status status = check_version(path, superblock); !status.ok()) return status;
  const std::string fault = find_fault(superblock, extents_from);
  if (fault.empty()) return {};
  return {Status::Code::kCorrupt,
          fmt::format("the superblock of pool {} makes no sense ({}); restore it from a copy, or "
                      "delete it to start with an empty cache",
                      path, fault)};
}

Status check_slot_lines(std::span<const uint32_t> slot_lines) {
  if (slot_lines.empty() || slot_lines.size() > kMaxSizeClasses) {
    return {Status::Code::kInvalid, fmt::format("{} size classes, but a pool has 1 to {}",
                                                slot_lines.size(), kMaxSizeClasses)};
  }
  uint32_t previous = 0;
  for (const uint32_t lines : slot_lines) {
    if (lines <= previous || lines > kMaxSlotLines) {
      return {Status::Code::kInvalid,
              fmt::format("a size class of {} lines after one of {}, but sizes ascend from 1 to {}",
                          lines, previous, kMaxSlotLines)};
    }
    previous = lines;
  }
  return {};
}

uint32_t checksum_seed_of(const Superblock& superblock) {
  return extend_crc32c(kCrc32cStart, superblock.uuid.data(), superblock.uuid.size());
}

}  // namespace pmcached::pmem
