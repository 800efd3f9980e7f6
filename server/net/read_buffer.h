#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/stats.h"

namespace pmcached::server {

/// Memory for what clients send, shared by the connections of one worker.
///
/// Purpose: a connection holds a buffer only while it has unfinished input, so that thousands of
/// idle clients cost next to nothing.
/// Thread safety: belongs to the worker's thread; the gauges may be read by others.
/// Ownership: must outlive the blocks it gave out.
class ReadBufferPool {
 public:
  /// Enough for a batch of requests.
  static constexpr size_t kSmallBlock = size_t{16} << 10;
  /// For data blocks: fewer system calls per value.
  static constexpr size_t kLargeBlock = size_t{64} << 10;

  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size = 0;
  };

  /// A block of at least `size` bytes.
  Block take(size_t size);
  void give_back(Block block);

  uint64_t blocks() const { return blocks_taken_.get() - blocks_returned_.get(); }
  uint64_t bytes() const { return bytes_taken_.get() - bytes_returned_.get(); }

 private:
  /// Spare blocks kept of each size.
  static constexpr size_t kMaxSpares = 16;

  std::vector<Block> small_spares_;
  std::vector<Block> large_spares_;
  engine::Counter blocks_taken_;
  engine::Counter blocks_returned_;
  engine::Counter bytes_taken_;
  engine::Counter bytes_returned_;
};

/// What one client has sent and nobody has used yet.
///
/// Thread safety: belongs to one thread at a time. Ownership: borrows the pool, which outlives it.
/// Invariant: holds a block whenever it holds input.
class ReadBuffer {
 public:
  explicit ReadBuffer(ReadBufferPool& pool) : pool_(pool) {}
  ~ReadBuffer() { release(); }
  ReadBuffer(const ReadBuffer&) = delete;
  ReadBuffer& operator=(const ReadBuffer&) = delete;

  std::string_view input() const { return {block_.bytes.get() + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }
  /// Drops `used` bytes from the front; hands the block back once nothing is left.
  /// Precondition: used <= input().size().
  void consume(size_t used);

  /// Free memory behind the input, for the next read. Takes a block of at least `wanted` bytes if
  /// there is none, and a larger one when the input fills the present one; moves the input to the
  /// front where that makes room.
  struct Room {
    char* begin;
    size_t size;
  };
  Room make_room(size_t wanted);
  /// `size` bytes were read into the room.
  void commit(size_t size) { end_ += size; }
  /// Hands the block back if there is no input in it.
  void release_if_empty() {
    if (empty()) {
      release();
    }
  }

 private:
  void release();
  void grow();

  ReadBufferPool& pool_;
  ReadBufferPool::Block block_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace pmcached::server
