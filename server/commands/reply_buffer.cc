#include "server/commands/reply_buffer.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace pmcached::server {
namespace {

constexpr size_t kFirstCapacity = 2048;
/// A buffer that has grown beyond is given back once it is empty.
constexpr size_t kKeptCapacity = size_t{64} << 10;

iovec make_iovec(const char* bytes, size_t size) {
  return {const_cast<char*>(bytes), size};  // iovec is shared with readv(), which writes
}

}  // namespace

void ReplyBuffer::append(std::string_view bytes) {
  if (bytes.empty()) {
    return;
  }
  std::memcpy(reserve(bytes.size()), bytes.data(), bytes.size());
  commit(bytes.size());
}

char* ReplyBuffer::reserve(size_t size) {
  if (capacity_ - end_ < size) {
    make_room(size);
  }
  return buffer_.get() + end_;
}

void ReplyBuffer::append_pinned(std::string_view bytes, engine::Pin pin) {
  pinned_size_ += bytes.size();
  runs_.push_back({origin_ + end_, bytes, std::move(pin)});
}

size_t ReplyBuffer::gather(std::span<iovec> out) const {
  size_t filled = 0;
  const auto add = [&](const char* bytes, size_t size) {
    if (size != 0) {
      out[filled++] = make_iovec(bytes, size);
    }
  };
  size_t copied = begin_;
  for (size_t i = first_run_; i < runs_.size(); ++i) {
    if (filled + 2 > out.size()) {
      return filled;
    }
    const size_t position = index_of(runs_[i]);
    add(buffer_.get() + copied, position - copied);
    add(runs_[i].bytes.data(), runs_[i].bytes.size());
    copied = position;
  }
  if (filled < out.size()) {
    add(buffer_.get() + copied, end_ - copied);
  }
  return filled;
}

void ReplyBuffer::consume(size_t sent) {
  assert(sent <= size());
  while (first_run_ < runs_.size()) {
    PinnedRun& run = runs_[first_run_];
    const size_t copied = std::min(sent, index_of(run) - begin_);
    begin_ += copied;
    sent -= copied;
    if (begin_ != index_of(run)) {
      break;
    }
    const size_t from_run = std::min(sent, run.bytes.size());
    run.bytes.remove_prefix(from_run);
    pinned_size_ -= from_run;
    sent -= from_run;
    if (!run.bytes.empty()) {
      break;
    }
    run.pin = engine::Pin();
    ++first_run_;
  }
  begin_ += sent;
  drop_sent_runs();
  recycle_if_empty();
}

void ReplyBuffer::rewind(const Mark& mark) {
  while (pinned_runs() > mark.pinned_runs) {
    pinned_size_ -= runs_.back().bytes.size();
    runs_.pop_back();
  }
  end_ = static_cast<size_t>(mark.copied_end - origin_);
}

void ReplyBuffer::make_room(size_t size) {
  const size_t pending = end_ - begin_;
  if (capacity_ >= pending + size && pending <= capacity_ / 2) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, pending);
  } else {
    const size_t capacity = std::max({kFirstCapacity, capacity_ * 2, pending + size});
    auto grown = std::make_unique_for_overwrite<char[]>(capacity);
    if (pending != 0) {
      std::memcpy(grown.get(), buffer_.get() + begin_, pending);
    }
    buffer_ = std::move(grown);
    capacity_ = capacity;
  }
  origin_ += begin_;
  begin_ = 0;
  end_ = pending;
}

void ReplyBuffer::drop_sent_runs() {
  // Half of the runs at a time, so that each is moved once on average.
  if (first_run_ >= runs_.size() - first_run_) {
    runs_.erase(runs_.begin(), runs_.begin() + static_cast<ptrdiff_t>(first_run_));
    first_run_ = 0;
  }
}

void ReplyBuffer::recycle_if_empty() {
  if (!empty()) {
    return;
  }
  origin_ += begin_;
  begin_ = 0;
  end_ = 0;
  if (capacity_ > kKeptCapacity) {
    buffer_.reset();
    capacity_ = 0;
  }
}

}  // namespace pmcached::server
