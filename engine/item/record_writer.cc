#include "engine/item/record_writer.h"

#include <algorithm>
#include <cstring>

#include "engine/item/item_view.h"
#include "pmem/checksum.h"

namespace pmcached::engine {
namespace {

/// What the checksum covers before the key, in order and without gaps.
struct [[gnu::packed]] ChecksumPrefix {
  uint64_t slot;
  uint32_t low_word;
  uint64_t client_flags;
  uint32_t value_length;
};
static_assert(sizeof(ChecksumPrefix) == 24);

}  // namespace

void RecordWriter::start(RecordPlace place, std::string_view key, uint64_t client_flags,
                         uint32_t value_length) {
  place_ = std::move(place);
  const bool chunked = !place_.chunks.empty();
  low_word_ =
      static_cast<uint32_t>(make_slot_word(0, place_.generation, static_cast<uint8_t>(key.size()),
                                           chunked ? SlotKind::kChunkedRecord : SlotKind::kRecord));
  const ChecksumPrefix prefix{.slot = place_.slot,
                              .low_word = low_word_,
                              .client_flags = client_flags,
                              .value_length = value_length};
  crc_ = pmem::extend_crc32c(seed_, &prefix, sizeof prefix);
  crc_ = pmem::extend_crc32c(crc_, key.data(), key.size());

  at_ = slots_->address(place_.slot);
  used_ = 0;
  next_chunk_ = 0;
  const RecordHeader header{.commit_word = 0,
                            .cas = 0,
                            .client_flags = client_flags,
                            .value_length = value_length,
                            .exptime = 0};
  emit(reinterpret_cast<const char*>(&header), sizeof header);
  emit(key.data(), key.size());
  for (const RecordPlace::Chunk& chunk : place_.chunks) {
    const char* bytes = reinterpret_cast<const char*>(&chunk.slot);
    crc_ = pmem::extend_crc32c(crc_, bytes, kChunkListEntryBytes);
    emit(bytes, kChunkListEntryBytes);
  }
  missing_ = value_length;
  run_left_ = chunked ? 0 : value_length;
  if (missing_ == 0) {
    finish_line();
  }
}

void RecordWriter::write(std::span<const char> bytes) {
  if (bytes.empty()) {
    return;
  }
  crc_ = pmem::extend_crc32c(crc_, bytes.data(), bytes.size());
  missing_ -= static_cast<uint32_t>(bytes.size());
  while (!bytes.empty()) {
    if (run_left_ == 0) {
      begin_chunk();
    }
    const size_t size = std::min<size_t>(bytes.size(), run_left_);
    emit(bytes.data(), size);
    run_left_ -= static_cast<uint32_t>(size);
    bytes = bytes.subspan(size);
  }
  if (missing_ == 0) {
    finish_line();
  }
}

void RecordWriter::seal(uint64_t cas, uint32_t exptime) {
  const uint32_t crc = pmem::extend_crc32c(crc_, &cas, sizeof cas);
  std::memcpy(first_line_.data() + offsetof(RecordHeader, cas), &cas, sizeof cas);
  std::memcpy(first_line_.data() + offsetof(RecordHeader, exptime), &exptime, sizeof exptime);

  std::byte* line = slots_->address(place_.slot);
  std::memcpy(line + sizeof(uint64_t), first_line_.data() + sizeof(uint64_t),
              kLine - sizeof(uint64_t));
  // Release: stores to one line become durable in the order they are made, so the word is never
  // durable without the rest of its line. The other lines are covered by the checksum.
  std::atomic_ref<uint64_t>(slots_->word(place_.slot))
      .store(uint64_t{crc} << 32 | low_word_, std::memory_order_release);
  persister_->flush(line, kLine);
}

void RecordWriter::emit(const char* bytes, size_t size) {
  while (size > 0) {
    const bool in_first_line = at_ == slots_->address(place_.slot);
    if (used_ == 0 && size >= kLine && !in_first_line) {
      const size_t whole_lines = size / kLine * kLine;
      persister_->copy(at_, bytes, whole_lines);
      at_ += whole_lines;
      bytes += whole_lines;
      size -= whole_lines;
      continue;
    }
    const size_t part = std::min(size, kLine - used_);
    std::memcpy(line_.data() + used_, bytes, part);
    used_ += part;
    bytes += part;
    size -= part;
    if (used_ == kLine) {
      emit_line();
    }
  }
}

void RecordWriter::emit_line() {
  if (at_ == slots_->address(place_.slot)) {
    first_line_ = line_;
  } else {
    persister_->copy(at_, line_.data(), kLine);
  }
  at_ += kLine;
  used_ = 0;
}

void RecordWriter::finish_line() {
  if (used_ > 0) {
    std::fill(line_.begin() + static_cast<std::ptrdiff_t>(used_), line_.end(), std::byte{0});
    emit_line();
  }
}

void RecordWriter::begin_chunk() {
  finish_line();
  const RecordPlace::Chunk& chunk = place_.chunks[next_chunk_++];
  at_ = slots_->address(chunk.slot);
  const uint64_t word = make_slot_word(0, chunk.generation, 0, SlotKind::kChunk);
  emit(reinterpret_cast<const char*>(&word), sizeof word);
  // Every chunk but the last is full, and the last one has room for what is left.
  run_left_ = chunk_capacity(slots_->classes());
}

uint32_t record_checksum(uint32_t seed, SlotReference slot, const RecordHeader& header,
                         std::span<const std::string_view> value_runs) {
  const uint64_t word = load_word(header.commit_word, std::memory_order_relaxed);
  const auto low_word = static_cast<uint32_t>(word);
  const ChecksumPrefix prefix{.slot = slot,
                              .low_word = low_word,
                              .client_flags = header.client_flags,
                              .value_length = header.value_length};
  uint32_t crc = pmem::extend_crc32c(seed, &prefix, sizeof prefix);
  size_t after_header = key_length_of(word);
  if (kind_of(word) == SlotKind::kChunkedRecord) {
    after_header += value_runs.size() * kChunkListEntryBytes;
  }
  crc = pmem::extend_crc32c(crc, &header + 1, after_header);
  for (const std::string_view run : value_runs) {
    crc = pmem::extend_crc32c(crc, run.data(), run.size());
  }
  return pmem::extend_crc32c(crc, &header.cas, sizeof header.cas);
}

}  // namespace pmcached::engine
