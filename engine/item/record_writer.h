#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/item/item_layout.h"
#include "engine/item/slot_table.h"
#include "pmem/persister.h"

namespace pmcached::engine {

/// Where a record goes: its slot and, for a large value, the slots of its chunks in order.
struct RecordPlace {
  SlotReference slot = kNoSlot;
  uint16_t generation = 0;  ///< of the slab of `slot`
  struct Chunk {
    SlotReference slot = kNoSlot;
    uint16_t generation = 0;
  };
  std::vector<Chunk> chunks;
};

/// Lays a record out in its slots while the value arrives, and computes its checksum on the way.
///
/// Purpose: every line of the pool is written once, whole, past the CPU caches; only the record's
/// first line, which carries the commit word, is kept back until seal().
/// Thread safety: belongs to one thread at a time.
/// Ownership: none of the slots; the caller keeps them reserved.
/// Protocol: assign a writer made for the cache, start(), write() until missing() is 0, seal().
/// What write() stored becomes durable by the fence that also makes the commit word durable; until
/// then the slot's word says "no record".
class RecordWriter {
 public:
  RecordWriter() = default;
  RecordWriter(const SlotTable& slots, const pmem::Persister& persister, uint32_t checksum_seed)
      : slots_(&slots), persister_(&persister), seed_(checksum_seed) {}

  /// Bytes of the slot for a record that holds its value itself.
  static constexpr uint64_t inline_bytes(size_t key_length, uint64_t value_length) {
    return sizeof(RecordHeader) + key_length + value_length;
  }
  /// Bytes of the slot for a record whose value is in `chunks` chunks.
  static constexpr uint64_t chunked_bytes(size_t key_length, uint64_t chunks) {
    return sizeof(RecordHeader) + key_length + chunks * kChunkListEntryBytes;
  }

  void start(RecordPlace place, std::string_view key, uint64_t client_flags, uint32_t value_length);
  /// Precondition: bytes.size() <= missing().
  void write(std::span<const char> bytes);
  uint32_t missing() const { return missing_; }

  /// Stores the record's first line, commit word last, and starts flushing it. Precondition:
  /// missing() == 0 and the stripe lock of the key is held. The caller fences, then publishes.
  void seal(uint64_t cas, uint32_t exptime);

  const RecordPlace& place() const { return place_; }

 private:
  static constexpr size_t kLine = pmem::kLineSize;

  void emit(const char* bytes, size_t size);
  void emit_line();
  void finish_line();
  void begin_chunk();

  const SlotTable* slots_ = nullptr;
  const pmem::Persister* persister_ = nullptr;
  uint32_t seed_ = 0;
  RecordPlace place_;
  uint32_t low_word_ = 0;  ///< generation, key length and kind: the low half of the commit word
  uint32_t crc_ = 0;
  uint32_t missing_ = 0;
  uint32_t run_left_ = 0;  ///< value bytes that still go to the current slot
  size_t next_chunk_ = 0;
  std::byte* at_ = nullptr;  ///< where the line being filled goes
  size_t used_ = 0;          ///< bytes of it filled
  alignas(64) std::array<std::byte, kLine> line_;
  alignas(64) std::array<std::byte, kLine> first_line_;
};

/// The checksum of a record, computed from its bytes in the pool; seal() stores the same value.
/// `value_of(i)` returns run i of the value, `runs` their number. Precondition: the record's
/// lengths and chunk list have been checked.
uint32_t record_checksum(uint32_t seed, SlotReference slot, const RecordHeader& header,
                         std::span<const std::string_view> value_runs);

}  // namespace pmcached::engine
