#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "pmem/alignment.h"
#include "pmem/file_descriptor.h"
#include "pmem/pool_layout.h"
#include "pmem/two_copies.h"
#include "tests/crash/persistence_recorder.h"

namespace pmcached::tests {

/// What is left of the stores that were pending when it happened.
enum class Cut {
  kProcessKilled,    ///< all of them, and the machine runs on
  kPowerAllArrived,  ///< all of them
  kNothingArrived,   ///< none
  kSomeArrived,      ///< any of them, streamed lines in any part
};

/// Makes the state of the last run look like that of another boot, if it is intact.
inline void change_boot(pmem::RunState* state) {
  if (pmem::is_intact(*state)) {
    state->boot_id.fill('0');
    state->boot_id.back() = '\0';
    state->checksum = pmem::checksum_of(*state);
  }
}

/// The pool file that a crash leaves, rebuilt for one moment after the other.
class CrashImage {
 public:
  /// `base_file`: the pool as it was when the recorder started.
  CrashImage(std::string path, const std::string& base_file)
      : path_(std::move(path)), bytes_(std::filesystem::file_size(base_file)) {
    std::filesystem::copy_file(base_file, path_);
    const pmem::FileDescriptor file(open(path_.c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(file.valid());
    void* mapping = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    REQUIRE(mapping != MAP_FAILED);
    file_ = static_cast<std::byte*>(mapping);
    guaranteed_.assign(file_, file_ + bytes_);
  }
  ~CrashImage() {
    munmap(file_, bytes_);
    unlink(path_.c_str());
  }
  CrashImage(const CrashImage&) = delete;
  CrashImage& operator=(const CrashImage&) = delete;

  const std::string& path() const { return path_; }

  /// Takes over what has become durable up to the next moment.
  void advance(const std::vector<LineContent>& made_durable) {
    for (const LineContent& line : made_durable) {
      put(guaranteed_.data(), line);
    }
  }
  /// Writes the file as `cut` leaves it. `blocks`: the parts that any run may have changed.
  void write(const std::set<size_t>& blocks, const std::vector<LineContent>& pending, Cut cut,
             std::mt19937_64& random) {
    for (const size_t block : blocks) {
      const size_t size = std::min(pmem::kSlabSize, bytes_ - block * pmem::kSlabSize);
      std::memcpy(file_ + block * pmem::kSlabSize, guaranteed_.data() + block * pmem::kSlabSize,
                  size);
    }
    for (const LineContent& line : pending) {
      if (cut == Cut::kProcessKilled || cut == Cut::kPowerAllArrived) {
        put(file_, line);
      } else if (cut == Cut::kSomeArrived) {
        put_some(line, random);
      }
    }
    if (cut != Cut::kProcessKilled) {
      change_boots();
    }
  }

 private:
  static void put(std::byte* image, const LineContent& line) {
    std::memcpy(image + line.number * pmem::kLineSize, line.bytes.data(), pmem::kLineSize);
  }
  void put_some(const LineContent& line, std::mt19937_64& random) {
    constexpr size_t kWords = pmem::kLineSize / sizeof(uint64_t);
    switch (random() % 4) {
      case 0:
        break;
      case 1:
        // A streamed line arrives in words; of a cached one the stores arrive in order, and the
        // engine makes the one to its first word last.
        for (size_t word = line.streamed ? 0 : 1; word < kWords; ++word) {
          if (!line.streamed || random() % 2 == 0) {
            std::memcpy(file_ + line.number * pmem::kLineSize + word * sizeof(uint64_t),
                        line.word(word), sizeof(uint64_t));
          }
        }
        break;
      default:
        put(file_, line);
    }
  }
  void change_boots() {
    uint64_t root_object = 0;
    std::memcpy(&root_object, file_ + kRootOffsetPlace, sizeof root_object);
    auto* root =
        reinterpret_cast<pmem::PoolRoot*>(file_ + pmem::align_up(root_object, pmem::kPageSize));
    for (pmem::RunState& copy : root->run_state) {
      change_boot(&copy);
    }
  }

  /// Where libpmemobj's descriptor says where the root object is (pmem/object_pool_header.h).
  static constexpr uint64_t kRootOffsetPlace = 6144;

  std::string path_;
  size_t bytes_;
  std::byte* file_ = nullptr;
  std::vector<std::byte> guaranteed_;
};

}  // namespace pmcached::tests
