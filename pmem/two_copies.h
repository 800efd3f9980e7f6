#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "pmem/checksum.h"
#include "pmem/persister.h"

/// Structs that stand twice in the pool, so that a torn or damaged copy loses nothing.
///
/// T is Superblock or RunState: trivially copyable, with a `sequence` that grows by one with every
/// version and a `checksum` over the whole struct with that field as 0. Of two intact copies the
/// one with the higher sequence counts. A version is written to one copy, fenced, and only then to
/// the other, and the copies are made equal at opening before a new version is written: so at every
/// moment at least one copy is intact and none but the last version can be lost.
///
/// Thread safety: functions of their arguments; the caller keeps writers apart.
namespace pmcached::pmem {

template <typename T>
uint32_t checksum_of(T value) {
  static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
  value.checksum = 0;
  return ~extend_crc32c(kCrc32cStart, &value, sizeof(value));
}

template <typename T>
bool is_intact(const T& value) {
  return value.checksum == checksum_of(value);
}

/// `value` as the version after `sequence`, ready to be written.
template <typename T>
T seal_after(uint64_t sequence, T value) {
  value.sequence = sequence + 1;
  value.checksum = checksum_of(value);
  return value;
}

template <typename T>
struct CopyChoice {
  std::optional<T> newest;   ///< nothing: both copies are damaged
  bool any_damaged = false;  ///< at least one copy is
};

template <typename T>
CopyChoice<T> choose_copy(std::span<const T, 2> copies) {
  CopyChoice<T> choice;
  for (const T& copy : copies) {
    if (!is_intact(copy)) {
      choice.any_damaged = true;
    } else if (!choice.newest || copy.sequence > choice.newest->sequence) {
      choice.newest = copy;
    }
  }
  return choice;
}

/// Replaces one copy, durably on PMEM; where that takes a system call the caller syncs.
template <typename T>
void write_copy(T* copy, const T& value, const Persister& persister) {
  persister.copy(copy, &value, sizeof(value));
  persister.fence();
}

/// Rewrites the copies that differ from `value`, which one of them holds.
template <typename T>
void equalise_copies(std::span<T, 2> copies, const T& value, const Persister& persister) {
  for (T& copy : copies) {
    if (std::memcmp(&copy, &value, sizeof(value)) != 0) write_copy(&copy, value, persister);
  }
}

}  // namespace pmcached::pmem
