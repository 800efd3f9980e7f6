#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pmem/file_descriptor.h"
#include "pmem/status.h"

namespace pmcached::pmem {

/// A pool file that is open and locked, but not mapped: what is done before libpmemobj sees it.
///
/// Purpose: libpmemobj opens what it should refuse (a longer file), refuses without a reason
/// (a shorter one) or dies (an empty one), so the bytes are looked at by plain reads first.
/// Thread safety: none needed; used while opening.
/// Ownership: holds libpmemobj's own lock (a flock), so it must be gone before libpmemobj opens
/// the file, and no server can have the file open while it lives.
class PoolFile {
 public:
  /// kNotFound if there is no file, kInvalid if it is no regular file, kBusy if it is locked.
  static Status open(const std::string& path, PoolFile* file);

  const std::string& path() const { return path_; }
  /// Length of the file in bytes when it was opened.
  uint64_t bytes() const { return bytes_; }

  /// Reads [offset, offset + size), which must lie within bytes().
  Status read(uint64_t offset, size_t size, std::vector<std::byte>* content) const;

  /// Gives every byte of [0, bytes) room on the medium, lengthening the file where needed, so that
  /// no later store finds the file system full. kNoSpace, with the file as long as before, if
  /// that does not succeed.
  Status allocate(uint64_t bytes);

 private:
  std::string path_;
  FileDescriptor descriptor_;
  uint64_t bytes_ = 0;
  uint64_t allocated_bytes_ = 0;
};

/// What to tell of a pool that another process has locked.
Status in_use_by_another_server(const std::string& path);

}  // namespace pmcached::pmem
