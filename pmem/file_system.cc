#include "pmem/file_system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "pmem/file_descriptor.h"

namespace pmcached::pmem {
namespace {

struct KnownFileSystem {
  uint32_t magic;
  const char* name;
  bool in_memory;
};

constexpr uint32_t kXfsMagic = 0x58465342;  // "XFSB"; linux/magic.h leaves it out

// ext2 and ext3 have ext4's number and ext4's driver.
constexpr std::array kKnownFileSystems = {
    KnownFileSystem{EXT4_SUPER_MAGIC, "ext4", false},
    KnownFileSystem{kXfsMagic, "xfs", false},
    KnownFileSystem{BTRFS_SUPER_MAGIC, "btrfs", false},
    KnownFileSystem{OVERLAYFS_SUPER_MAGIC, "overlayfs", false},
    KnownFileSystem{NFS_SUPER_MAGIC, "nfs", false},
    KnownFileSystem{TMPFS_MAGIC, "tmpfs", true},
    KnownFileSystem{RAMFS_MAGIC, "ramfs", true},
};

uint64_t to_mib_rounded_up(uint64_t bytes) {
  return (bytes + (1U << 20) - 1) >> 20;
}

}  // namespace

Status inspect_file_system(const std::string& path, FileSystem* file_system) {
  struct statfs facts {};
  if (statfs(path.c_str(), &facts) != 0) {
    return io_error(fmt::format("ask for the file system of {}", path));
  }
  const auto magic = static_cast<uint32_t>(facts.f_type);
  file_system->name = fmt::format("file system {:#x}", magic);
  for (const KnownFileSystem& known : kKnownFileSystems) {
    if (known.magic != magic) continue;
    file_system->name = known.name;
    file_system->in_memory = known.in_memory;
  }
  // tmpfs without a size limit, and ramfs, report no blocks at all.
  if (facts.f_blocks != 0) {
    file_system->free_bytes = facts.f_bavail * static_cast<uint64_t>(facts.f_bsize);
  }
  return {};
}

Status require_free_space(const std::string& folder, uint64_t bytes, const std::string& purpose) {
  FileSystem file_system;
  if (Status status = inspect_file_system(folder, &file_system); !status.ok()) return status;
  if (!file_system.free_bytes || *file_system.free_bytes >= bytes) return {};
  return {Status::Code::kNoSpace,
          fmt::format("{} needs {} MiB, but {} ({}) has {} MiB free: {} MiB are missing; free some "
                      "space or ask for a smaller pool",
                      purpose, to_mib_rounded_up(bytes), folder, file_system.name,
                      *file_system.free_bytes >> 20,
                      to_mib_rounded_up(bytes - *file_system.free_bytes))};
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

Status sync_folder(const std::string& folder) {
  const FileDescriptor descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.valid()) return io_error(fmt::format("open folder {}", folder));
  if (fsync(descriptor.get()) != 0 && errno != EINVAL) {
    return io_error(fmt::format("sync folder {}", folder));
  }
  return {};
}

Status io_error(const std::string& what) {
  return {Status::Code::kIo, fmt::format("cannot {}: {}", what, std::strerror(errno))};
}

}  // namespace pmcached::pmem
