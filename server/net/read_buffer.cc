#include "server/net/read_buffer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pmcached::server {

ReadBufferPool::Block ReadBufferPool::take(size_t size) {
  std::vector<Block>& spares = size <= kSmallBlock ? small_spares_ : large_spares_;
  Block block;
  if (size <= kLargeBlock && !spares.empty()) {
    block = std::move(spares.back());
    spares.pop_back();
  } else {
    block.size = size <= kSmallBlock ? kSmallBlock : std::max(size, kLargeBlock);
    // Not make_unique: the bytes are about to be overwritten and need no zeroes.
    block.bytes.reset(new char[block.size]);
  }
  blocks_taken_.add();
  bytes_taken_.add(block.size);
  return block;
}

void ReadBufferPool::give_back(Block block) {
  blocks_returned_.add();
  bytes_returned_.add(block.size);
  std::vector<Block>& spares = block.size == kSmallBlock ? small_spares_ : large_spares_;
  if (block.size <= kLargeBlock && spares.size() < kMaxSpares) {
    spares.push_back(std::move(block));
  }
}

void ReadBuffer::consume(size_t used) {
  begin_ += used;
  release_if_empty();
}

ReadBuffer::Room ReadBuffer::make_room(size_t wanted) {
  if (block_.bytes == nullptr) {
    block_ = pool_.take(wanted);
  } else if (end_ == block_.size && begin_ == 0) {
    grow();
  } else if (begin_ > 0) {
    std::memmove(block_.bytes.get(), block_.bytes.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  return {block_.bytes.get() + end_, block_.size - end_};
}

void ReadBuffer::grow() {
  ReadBufferPool::Block larger = pool_.take(block_.size * 2);
  std::memcpy(larger.bytes.get(), block_.bytes.get(), end_);
  pool_.give_back(std::exchange(block_, std::move(larger)));
}

void ReadBuffer::release() {
  if (block_.bytes != nullptr) {
    pool_.give_back(std::exchange(block_, {}));
  }
  begin_ = 0;
  end_ = 0;
}

}  // namespace pmcached::server
