#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>

namespace pmcached::engine {

/// An array of zeroes in reserved address space: memory is used where it is touched, and can be
/// given back.
///
/// Purpose: arrays that grow without moving (the hash table) or stay sparse (slot metadata).
/// Thread safety: data() from any thread; discard() excludes users of that part.
/// Failure: the constructor throws std::bad_alloc when the address space is refused.
template <typename T>
class VirtualArray {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  explicit VirtualArray(size_t count) : bytes_(count * sizeof(T)) {
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::bad_alloc();
    }
    data_ = static_cast<T*>(memory);
  }
  ~VirtualArray() { munmap(data_, bytes_); }
  VirtualArray(const VirtualArray&) = delete;
  VirtualArray& operator=(const VirtualArray&) = delete;

  T* data() const { return data_; }
  size_t size() const { return bytes_ / sizeof(T); }

  /// Zeroes elements [first, first + count) and returns whole pages of them to the system.
  /// Precondition: the part begins and ends on page boundaries.
  void discard(size_t first, size_t count) {
    madvise(data_ + first, count * sizeof(T), MADV_DONTNEED);
  }
  /// Asks for huge pages: fewer TLB misses for arrays that are read at random.
  void prefer_huge_pages() { madvise(data_, bytes_, MADV_HUGEPAGE); }

 private:
  T* data_ = nullptr;
  size_t bytes_;
};

}  // namespace pmcached::engine
