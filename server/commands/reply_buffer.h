#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/item/item_view.h"

namespace pmcached::server {

/// What a connection still has to send, in order: bytes of its own, and runs that stand in the pool
/// and are kept there by pins.
///
/// Purpose: replies of many requests leave with one system call, large values without being copied.
/// Thread safety: belongs to one thread at a time.
/// Ownership: owns the copied bytes and the pins; must be gone before the cache is destroyed.
/// Cost: no allocation per request in steady state: copied bytes stand in one buffer that is
/// reused, and that shrinks again once a huge reply has left.
/// Failure: none but running out of memory.
class ReplyBuffer {
 public:
  /// Remembers a place to rewind to.
  struct Mark {
    uint64_t copied_end;
    size_t pinned_runs;
  };

  ReplyBuffer() = default;
  ReplyBuffer(const ReplyBuffer&) = delete;
  ReplyBuffer& operator=(const ReplyBuffer&) = delete;

  /// Appends a copy of `bytes`.
  void append(std::string_view bytes);
  /// Room for `size` bytes to be written in place; commit() says how many were. The pointer is
  /// valid until the next call of a non-const function.
  char* reserve(size_t size);
  void commit(size_t size) { end_ += size; }
  /// Appends `bytes` without copying them; they must stay readable while `pin` exists. Of several
  /// runs of one item, appended one after the other, the last one alone needs the pin.
  void append_pinned(std::string_view bytes, engine::Pin pin);

  bool empty() const { return size() == 0; }
  /// Bytes pending in all.
  size_t size() const { return copied_size() + pinned_size_; }
  /// The part of size() that takes memory of our own.
  size_t copied_size() const { return end_ - begin_; }
  /// Runs in the pool pending.
  size_t pinned_runs() const { return runs_.size() - first_run_; }

  /// Fills `out` from the front of what is pending; returns how many entries it filled. They are
  /// valid until the next call of a non-const function.
  size_t gather(std::span<iovec> out) const;
  /// Drops `sent` bytes from the front and releases the pins of the runs that have left.
  /// Precondition: sent <= size().
  void consume(size_t sent);

  /// The present end, to rewind to. A mark is void once anything in front of it has been consumed.
  Mark mark() const { return {origin_ + end_, pinned_runs()}; }
  /// Drops everything appended since `mark`.
  void rewind(const Mark& mark);

 private:
  /// Bytes in the pool, to be sent when the copied bytes up to `position` have been.
  struct PinnedRun {
    uint64_t position;  ///< in the stream of copied bytes, counted from the beginning of time
    std::string_view bytes;
    engine::Pin pin;
  };

  /// Where in buffer_ the copied bytes end that go in front of `run`.
  size_t index_of(const PinnedRun& run) const {
    return static_cast<size_t>(run.position - origin_);
  }
  void make_room(size_t size);
  void drop_sent_runs();
  void recycle_if_empty();

  // [begin_, end_) of buffer_ is pending; buffer_[0] is number origin_ of the stream of copied
  // bytes.
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t origin_ = 0;
  std::vector<PinnedRun> runs_;
  size_t first_run_ = 0;  ///< runs in front of it have left
  size_t pinned_size_ = 0;
};

}  // namespace pmcached::server
