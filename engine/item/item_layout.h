#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pmem/pool_layout.h"

/// The bytes of an item in the pool: layout only. Part of the pool format, so every change is a
/// change of pmem::kLayoutVersion or a feature bit.
///
/// A slot is a multiple of 64 bytes and begins with a word that only the engine writes:
///
///   63                        32 31            16 15       8 7       0
///   +---------------------------+----------------+----------+---------+
///   | CRC32C of the record      | slab generation| key bytes| kind    |
///   +---------------------------+----------------+----------+---------+
///
/// A record follows its word with the rest of RecordHeader, the key, and
///   kRecord         the value
///   kChunkedRecord  the chunk list: one SlotReference (8 bytes, unaligned) a chunk
/// A chunk slot holds its word (CRC 0) and then value bytes.
///
/// The CRC runs over: slot reference (8 bytes), low half of the commit word (4), client_flags (8),
/// value_length (4), key, chunk list, value, cas (8); it starts from the region's seed. `exptime`
/// is left out, since touch changes it in place by one atomic store.
namespace pmcached::engine {

/// Offset in the pool divided by 64. 40 bits are enough for 64 TiB.
using SlotReference = uint64_t;
/// Offset 0 is the pool's own header, so no slot has this reference.
inline constexpr SlotReference kNoSlot = 0;
inline constexpr int kSlotReferenceBits = 40;

inline constexpr uint32_t kMaxKeyBytes = 250;

/// What a slot's first word says. Any two values differ in at least four bits, so that no flipped
/// bit makes a record of a free slot. Retirement keeps apart what the record was, for readers that
/// found it before.
enum class SlotKind : uint8_t {
  kFree = 0x00,
  kRecord = 0x5c,
  kChunkedRecord = 0xa3,
  kChunk = 0x36,
  kRetiredRecord = 0x53,
  kRetiredChunkedRecord = 0xac,
};

struct RecordHeader {
  uint64_t commit_word;  ///< one atomic store makes or retires the record
  uint64_t cas;          ///< unique, growing; decides between two records of one key
  uint64_t client_flags;
  uint32_t value_length;
  uint32_t exptime;  ///< absolute Unix seconds, 0 = never
};
static_assert(sizeof(RecordHeader) == 32);
static_assert(offsetof(RecordHeader, commit_word) == 0);
static_assert(std::is_trivially_copyable_v<RecordHeader>);

/// Bytes of a chunk slot before its value bytes.
inline constexpr uint32_t kChunkHeaderBytes = 8;
inline constexpr uint32_t kChunkListEntryBytes = 8;

constexpr uint64_t make_slot_word(uint32_t crc, uint16_t generation, uint8_t key_length,
                                  SlotKind kind) {
  return uint64_t{crc} << 32 | uint64_t{generation} << 16 | uint64_t{key_length} << 8 |
         static_cast<uint64_t>(kind);
}
constexpr uint32_t crc_of(uint64_t word) {
  return static_cast<uint32_t>(word >> 32);
}
constexpr uint16_t generation_of(uint64_t word) {
  return static_cast<uint16_t>(word >> 16);
}
constexpr uint8_t key_length_of(uint64_t word) {
  return static_cast<uint8_t>(word >> 8);
}
constexpr SlotKind kind_of(uint64_t word) {
  return static_cast<SlotKind>(word & 0xff);
}

/// The word of a record that is no longer one: everything but the kind stays, so that a reader
/// which found the record before still sees its key length.
constexpr uint64_t retired(uint64_t word) {
  return word ^ 0x0f;
}
static_assert(kind_of(retired(static_cast<uint64_t>(SlotKind::kRecord))) ==
              SlotKind::kRetiredRecord);
static_assert(kind_of(retired(static_cast<uint64_t>(SlotKind::kChunkedRecord))) ==
              SlotKind::kRetiredChunkedRecord);

constexpr bool is_record(SlotKind kind) {
  return kind == SlotKind::kRecord || kind == SlotKind::kChunkedRecord;
}

inline uint64_t load_word(const uint64_t& word, std::memory_order order) {
  return std::atomic_ref<uint64_t>(const_cast<uint64_t&>(word)).load(order);
}

/// The key length of a published record. Relaxed: retirement may store to the word meanwhile, but
/// leaves the length as it is.
inline uint8_t key_length_of(const RecordHeader& header) {
  return key_length_of(load_word(header.commit_word, std::memory_order_relaxed));
}

/// Whether a record, published or retired since, keeps its value in chunks. Relaxed: as above.
inline bool is_chunked(const RecordHeader& header) {
  const SlotKind kind = kind_of(load_word(header.commit_word, std::memory_order_relaxed));
  return kind == SlotKind::kChunkedRecord || kind == SlotKind::kRetiredChunkedRecord;
}

/// Relaxed: an expiry orders nothing, and touch may store a new one at any time.
inline uint32_t load_exptime(const RecordHeader& header) {
  return std::atomic_ref<uint32_t>(const_cast<uint32_t&>(header.exptime))
      .load(std::memory_order_relaxed);
}

}  // namespace pmcached::engine
