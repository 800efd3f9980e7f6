#include "pmem/pool_inspection.h"

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <vector>

#include "pmem/object_pool_header.h"
#include "pmem/superblock.h"
#include "pmem/two_copies.h"

namespace pmcached::pmem {
namespace {

Status read_superblock(const PoolFile& file, uint64_t root_page, Superblock* superblock) {
  std::vector<std::byte> content;
  Status status = file.read(root_page, sizeof(PoolRoot::superblock), &content);
  if (!status.ok()) return status;
  std::array<Superblock, 2> copies;
  std::memcpy(copies.data(), content.data(), sizeof(copies));
  const CopyChoice<Superblock> choice = choose_copy(std::span<const Superblock, 2>(copies));
  if (!choice.newest) {
    return {Status::Code::kCorrupt,
            fmt::format("both copies of the superblock of pool {} are damaged; restore it from a "
                        "copy, or delete it to start with an empty cache",
                        file.path())};
  }
  *superblock = *choice.newest;
  return check_superblock(file.path(), *superblock, root_page + sizeof(PoolRoot));
}

}  // namespace

Status inspect_pool(const PoolFile& file, PoolInspection* inspection) {
  if (file.bytes() == 0) {
    return {Status::Code::kCorrupt,
            fmt::format("{} is empty; delete it, and a pool is created in its place", file.path())};
  }
  if (file.bytes() < kObjectPoolHeaderBytes) {
    return {Status::Code::kCorrupt,
            fmt::format("{} is not a pool: it has {} bytes, the headers of a pool alone have {}; "
                        "name another file, or delete it to start with an empty cache",
                        file.path(), file.bytes(), kObjectPoolHeaderBytes)};
  }
  inspection->file_bytes = file.bytes();
  std::vector<std::byte> content;
  Status status = file.read(0, kObjectPoolHeaderBytes, &content);
  if (!status.ok()) return status;
  status = find_pool_root(file.path(), content, file.bytes(), &inspection->root_page);
  if (!status.ok()) return status;

  const Superblock& superblock = inspection->superblock;
  status = read_superblock(file, inspection->root_page, &inspection->superblock);
  if (!status.ok()) return status;
  if (file.bytes() < superblock.pool_bytes) {
    return {Status::Code::kCorrupt,
            fmt::format("pool {} is truncated: it has {} bytes, its superblock says {}; restore it "
                        "from a copy, or delete it to start with an empty cache",
                        file.path(), file.bytes(), superblock.pool_bytes)};
  }

  status = file.read(0, inspection->root_page, &content);
  if (!status.ok()) return status;
  inspection->allocator_intact = checksum_allocator(content) == superblock.allocator_checksum;
  return {};
}

}  // namespace pmcached::pmem
