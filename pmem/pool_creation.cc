#include "pmem/pool_creation.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "pmem/alignment.h"
#include "pmem/extent_plan.h"
#include "pmem/file_descriptor.h"
#include "pmem/file_system.h"
#include "pmem/medium.h"
#include "pmem/object_pool.h"
#include "pmem/object_pool_header.h"
#include "pmem/persister.h"
#include "pmem/slab_sections.h"
#include "pmem/superblock.h"
#include "pmem/two_copies.h"

namespace pmcached::pmem {
namespace {

// A huge object takes whole chunks of 256 KiB, of which its header needs 16 bytes.
constexpr uint64_t kChunkBytes = uint64_t{256} << 10;
constexpr uint64_t kObjectHeaderBytes = 16;
constexpr uint64_t kMaxExtentChunks = align_up(kMaxExtentBytes, kChunkBytes) / kChunkBytes;
// Less is not worth an extent: directory and alignment would eat most of it.
constexpr uint64_t kMinExtentChunks = 4 * kSlabSize / kChunkBytes;
constexpr uint64_t kObjectTypeNumber = 1;

bool exists(const std::string& path) {
  struct stat facts {};
  return lstat(path.c_str(), &facts) == 0;
}

Status lock_folder(const std::string& path, const std::string& folder, FileDescriptor* lock) {
  *lock = FileDescriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock->valid() && (errno == ENOENT || errno == ENOTDIR)) {
    return {Status::Code::kNotFound,
            fmt::format("cannot create pool {}: folder {} does not exist; create it, or name a "
                        "pool file elsewhere",
                        path, folder)};
  }
  if (!lock->valid()) return io_error(fmt::format("open folder {}", folder));
  while (flock(lock->get(), LOCK_EX) != 0) {
    if (errno != EINTR) return io_error(fmt::format("lock folder {}", folder));
  }
  return {};
}

/// The largest objects libpmemobj still has room for, until the rest is not worth one. Their bytes
/// stay as they are: untouched, and not zeroed.
std::vector<Extent> allocate_extents(const ObjectPool& pool, uint64_t pool_bytes) {
  std::vector<Extent> extents;
  uint64_t chunks = std::min(kMaxExtentChunks, pool_bytes / kChunkBytes);
  while (chunks >= kMinExtentChunks && extents.size() < kMaxExtents) {
    const uint64_t bytes = std::min(kMaxExtentBytes, chunks * kChunkBytes - kObjectHeaderBytes);
    PMEMoid object;
    if (pmemobj_alloc(pool.get(), &object, bytes, kObjectTypeNumber, nullptr, nullptr) == 0) {
      extents.push_back(plan_extent(object.off, bytes));
    } else {
      --chunks;
    }
  }
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  return extents;
}

/// Fills a new libpmemobj pool: extents, root object, directory. Durable when it returns.
Status format_pool(const std::string& path, const ObjectPool& pool, uint64_t bytes,
                   std::span<const uint32_t> slot_lines) {
  std::byte* base = base_of(pool);
  const PMEMoid root_object = pmemobj_root(pool.get(), kRootObjectBytes);
  if (OID_IS_NULL(root_object)) {
    return {Status::Code::kIo,
            fmt::format("cannot create the root object of pool {}: {}", path, pmemobj_errormsg())};
  }
  const uint64_t root_page = align_up(root_object.off, kPageSize);

  Superblock superblock = make_superblock(slot_lines, bytes);
  const std::vector<Extent> extents = allocate_extents(pool, bytes);
  superblock.extent_count = static_cast<uint32_t>(extents.size());
  std::copy(extents.begin(), extents.end(), superblock.extents.begin());
  superblock.allocator_checksum = checksum_allocator({base, root_page});
  superblock = seal_after(0, superblock);
  Status status = check_superblock(path, superblock, root_page + sizeof(PoolRoot));
  if (!status.ok()) return status;

  const Persister persister(detect_medium(path, base, bytes));
  SlabDirectory(sections_of(base, extents), persister).format();
  auto* root = reinterpret_cast<PoolRoot*>(base + root_page);
  const RunState run_state = seal_after(0, RunState{.clean = 1});
  for (size_t i = 0; i < root->superblock.size(); ++i) {
    write_copy(&root->superblock[i], superblock, persister);
    write_copy(&root->run_state[i], run_state, persister);
  }
  return persister.sync(base, bytes);
}

/// Makes length and allocation of the file durable, which flushing a mapping does not.
Status sync_file(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.valid() || fsync(file.get()) != 0) return io_error(fmt::format("sync pool {}", path));
  return {};
}

Status build_pool(const std::string& path, uint64_t bytes, std::span<const uint32_t> slot_lines) {
  ObjectPool pool;
  Status status = create_object_pool(path, bytes, &pool);
  if (!status.ok()) return status;
  status = format_pool(path, pool, bytes, slot_lines);
  pool.reset();
  return status.ok() ? sync_file(path) : std::move(status);
}

/// Gives the finished pool its name, without replacing what got that name meanwhile.
Status rename_to_final(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  // EINVAL: this file system cannot promise not to replace, so the folder lock has to do.
  if (errno == EINVAL && std::rename(from.c_str(), to.c_str()) == 0) return {};
  return io_error(fmt::format("rename {} to {}", from, to));
}

}  // namespace

Status create_pool(const std::string& path, uint64_t bytes, std::span<const uint32_t> slot_lines) {
  const std::string folder = folder_of(path);
  FileDescriptor folder_lock;
  if (Status status = lock_folder(path, folder, &folder_lock); !status.ok()) return status;
  if (exists(path)) return {};

  const std::string unfinished = path + ".creating";
  if (unlink(unfinished.c_str()) != 0 && errno != ENOENT) {
    return io_error(fmt::format("remove the unfinished pool {}", unfinished));
  }
  Status status = require_free_space(folder, bytes, fmt::format("creating pool {}", path));
  if (!status.ok()) return status;
  status = build_pool(unfinished, bytes, slot_lines);
  if (status.ok()) status = rename_to_final(unfinished, path);
  if (!status.ok()) {
    unlink(unfinished.c_str());
    return status;
  }
  return sync_folder(folder);
}

}  // namespace pmcached::pmem
