#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "pmem/alignment.h"
#include "pmem/file_descriptor.h"
#include "pmem/pool.h"
#include "pmem/pool_layout.h"
#include "pmem/region.h"

namespace pmcached::pmem::test {

inline constexpr uint64_t kMib = uint64_t{1} << 20;

/// A folder of its own in memory, removed with everything in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = "/dev/shm/pmcached-test-XXXXXX";
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline PoolOptions pool_options(const std::string& path, uint64_t mib = 64) {
  return {.path = path, .bytes = mib * kMib, .slot_lines = {1, 2, 4, 8, 8192}};
}

inline std::unique_ptr<Region> open_or_fail(const PoolOptions& options) {
  std::unique_ptr<Region> region;
  const Status status = open_pool(options, &region);
  INFO((status.ok() ? std::string() : status.message()));
  REQUIRE(status.ok());
  return region;
}

/// Opens a pool that must be refused.
inline Status open_refused(const PoolOptions& options) {
  std::unique_ptr<Region> region;
  Status status = open_pool(options, &region);
  REQUIRE_FALSE(status.ok());
  REQUIRE(region == nullptr);
  return status;
}

inline std::string joined_findings(const Region& region) {
  std::string all;
  for (const std::string& finding : region.findings()) all += finding + "\n";
  return all;
}

/// The bytes of a file, past any server.
class RawFile {
 public:
  explicit RawFile(const std::string& path) : descriptor_(open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    REQUIRE(descriptor_.valid());
  }

  std::vector<std::byte> read(uint64_t offset, size_t size) const {
    std::vector<std::byte> content(size);
    REQUIRE(pread(descriptor_.get(), content.data(), size, static_cast<off_t>(offset)) ==
            static_cast<ssize_t>(size));
    return content;
  }
  template <typename T>
  T read_as(uint64_t offset) const {
    T value;
    std::memcpy(&value, read(offset, sizeof(T)).data(), sizeof(T));
    return value;
  }

  void write(uint64_t offset, const void* content, size_t size) const {
    REQUIRE(pwrite(descriptor_.get(), content, size, static_cast<off_t>(offset)) ==
            static_cast<ssize_t>(size));
  }
  template <typename T>
  void write_as(uint64_t offset, const T& value) const {
    write(offset, &value, sizeof(value));
  }

  void flip(uint64_t offset, uint8_t mask = 0xff) const {
    write_as(offset, static_cast<uint8_t>(read_as<uint8_t>(offset) ^ mask));
  }

  /// Where PoolRoot is, by what libpmemobj's header says of its root object.
  uint64_t root_page() const { return align_up(read_as<uint64_t>(6144), kPageSize); }
  uint64_t superblock_offset(size_t copy) const {
    return root_page() + offsetof(PoolRoot, superblock) + copy * sizeof(Superblock);
  }
  uint64_t run_state_offset(size_t copy) const {
    return root_page() + offsetof(PoolRoot, run_state) + copy * sizeof(RunState);
  }
  Superblock superblock() const { return read_as<Superblock>(superblock_offset(0)); }

 private:
  FileDescriptor descriptor_;
};

}  // namespace pmcached::pmem::test
