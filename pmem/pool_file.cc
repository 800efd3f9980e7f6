#include "pmem/pool_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "pmem/file_system.h"

namespace pmcached::pmem {
namespace {

// st_blocks counts these, whatever the file system's own block size is.
constexpr uint64_t kStatBlockBytes = 512;

}  // namespace

Status in_use_by_another_server(const std::string& path) {
  return {Status::Code::kBusy,
          fmt::format("pool {} is in use by another server; stop that one first or use a pool of "
                      "your own",
                      path)};
}

Status PoolFile::open(const std::string& path, PoolFile* file) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) {
    if (errno == ENOENT) return {Status::Code::kNotFound, fmt::format("{} does not exist", path)};
    return io_error(fmt::format("look at pool {}", path));
  }
  if (S_ISDIR(facts.st_mode)) {
    return {Status::Code::kInvalid,
            fmt::format("{} is a folder; name a pool file in it, such as {}/pmcached.pool", path,
                        path)};
  }
  if (!S_ISREG(facts.st_mode)) {
    return {Status::Code::kInvalid,
            fmt::format("{} is not a regular file; name a file on a mounted file system", path)};
  }
  file->path_ = path;
  file->descriptor_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file->descriptor_.valid()) return io_error(fmt::format("open pool {}", path));
  if (flock(file->descriptor_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return in_use_by_another_server(path);
    return io_error(fmt::format("lock pool {}", path));
  }
  // Asked again under the lock: the server that held it before may have grown the pool.
  if (fstat(file->descriptor_.get(), &facts) != 0) {
    return io_error(fmt::format("look at pool {}", path));
  }
  file->bytes_ = static_cast<uint64_t>(facts.st_size);
  file->allocated_bytes_ = static_cast<uint64_t>(facts.st_blocks) * kStatBlockBytes;
  return {};
}

Status PoolFile::read(uint64_t offset, size_t size, std::vector<std::byte>* content) const {
  content->resize(size);
  size_t done = 0;
  while (done < size) {
    const ssize_t got = pread(descriptor_.get(), content->data() + done, size - done,
                              static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(fmt::format("read pool {} at byte {}", path_, offset + done));
    if (got == 0) {
      return {Status::Code::kIo, fmt::format("pool {} became shorter while it was read", path_)};
    }
    done += static_cast<size_t>(got);
  }
  return {};
}

Status PoolFile::allocate(uint64_t bytes) {
  // A file is fully allocated when it was created by us; a copied one may have holes.
  if (bytes <= bytes_ && allocated_bytes_ >= bytes_) return {};
  const uint64_t missing = bytes - std::min(allocated_bytes_, bytes);
  Status room = require_free_space(folder_of(path_), missing,
                                   fmt::format("giving pool {} its {} MiB", path_, bytes >> 20));
  if (!room.ok()) return room;
  const int error = posix_fallocate(descriptor_.get(), 0, static_cast<off_t>(bytes));
  if (error == 0 && fsync(descriptor_.get()) == 0) {
    bytes_ = std::max(bytes_, bytes);
    return {};
  }
  const int reason = error != 0 ? error : errno;
  std::string cleanup;
  if (ftruncate(descriptor_.get(), static_cast<off_t>(bytes_)) != 0) {
    cleanup = fmt::format("; nor can it be cut back to {} bytes", bytes_);
  }
  return {reason == ENOSPC ? Status::Code::kNoSpace : Status::Code::kIo,
          fmt::format("cannot give pool {} its {} MiB: {}{}", path_, bytes >> 20,
                      std::strerror(reason), cleanup)};
}

}  // namespace pmcached::pmem
