#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/item/record_writer.h"
#include "engine/store_request.h"

namespace pmcached::engine {

class SlotSupply;

/// A value on its way into the cache: room has been found, the bytes are arriving, nothing is
/// visible yet.
///
/// Purpose: lets a connection copy a value to its final place piece by piece, as it arrives.
/// Thread safety: belongs to one thread at a time.
/// Ownership: owns its slots until Cache::finish_store() takes them; destroying it frees them. Must
/// be gone before the cache is destroyed.
/// Failure: none; Cache::begin_store() has checked the size.
class PendingStore {
 public:
  PendingStore() = default;
  ~PendingStore() { abandon(); }
  PendingStore(const PendingStore&) = delete;
  PendingStore& operator=(const PendingStore&) = delete;

  /// Appends value bytes. Precondition: bytes.size() <= missing(). Any size, any number of calls.
  void write(std::span<const char> bytes);
  /// Bytes of value still to come.
  uint32_t missing() const;
  /// Whether begin_store() has filled this object and finish_store() has not emptied it.
  bool active() const { return supply_ != nullptr; }
  /// Gives up: frees the slots.
  void abandon();

 private:
  friend class StoreEngine;

  /// append and prepend: the bytes wait in DRAM, since the final size is known only at the end.
  bool is_staged() const {
    return request_.mode == StoreMode::kAppend || request_.mode == StoreMode::kPrepend;
  }

  SlotSupply* supply_ = nullptr;
  StoreRequest request_;  ///< its key points into key_
  std::array<char, kMaxKeyBytes> key_;
  RecordWriter writer_;
  std::vector<char> staged_;
};

}  // namespace pmcached::engine
