#include "engine/recovery/record_check.h"

#include <string_view>
#include <vector>

#include "engine/item/item_view.h"
#include "engine/item/record_writer.h"

namespace pmcached::engine {

RecordCheck::Finding RecordCheck::look_at(SlotReference slot) const {
  const SlotKind kind = kind_of(load_word(slots_.word(slot), std::memory_order_relaxed));
  switch (kind) {
    case SlotKind::kFree:
    case SlotKind::kChunk:
    case SlotKind::kRetiredRecord:
    case SlotKind::kRetiredChunkedRecord:
      return Finding::kNoRecord;
    case SlotKind::kRecord:
    case SlotKind::kChunkedRecord:
      break;
    default:
      return Finding::kDamaged;
  }
  const bool whole = has_current_generation(slot) && lengths_fit(slot) &&
                     (kind == SlotKind::kRecord || chunks_fit(slot)) && checksum_matches(slot);
  return whole ? Finding::kWhole : Finding::kDamaged;
}

bool RecordCheck::has_current_generation(SlotReference slot) const {
  const uint64_t word = load_word(slots_.word(slot), std::memory_order_relaxed);
  return generation_of(word) == pool_.generation(SlotTable::slab_of(slot));
}

bool RecordCheck::lengths_fit(SlotReference slot) const {
  const RecordHeader& header = *slots_.header(slot);
  const uint32_t key_length = key_length_of(header);
  if (key_length == 0 || key_length > kMaxKeyBytes || header.cas == 0) {
    return false;
  }
  const uint64_t bytes = is_chunked(header)
                             ? RecordWriter::chunked_bytes(
                                   key_length, chunks_for(slots_.classes(), header.value_length))
                             : RecordWriter::inline_bytes(key_length, header.value_length);
  return bytes <= slots_.classes().slot_bytes(slots_.class_of(slot)) &&
         (!is_chunked(header) || header.value_length > 0);
}

bool RecordCheck::chunks_fit(SlotReference slot) const {
  const ItemView item(slots_, slot);
  for (uint32_t i = 0; i < item.segment_count(); ++i) {
    const SlotReference chunk = item.chunk(i);
    if (!slots_.is_slot(chunk) || !has_current_generation(chunk) ||
        kind_of(load_word(slots_.word(chunk), std::memory_order_relaxed)) != SlotKind::kChunk ||
        item.segment(i).size() + kChunkHeaderBytes >
            slots_.classes().slot_bytes(slots_.class_of(chunk))) {
      return false;
    }
  }
  return true;
}

bool RecordCheck::checksum_matches(SlotReference slot) const {
  const ItemView item(slots_, slot);
  const RecordHeader& header = *slots_.header(slot);
  const uint32_t expected = crc_of(load_word(header.commit_word, std::memory_order_relaxed));
  if (!item.chunked()) {
    const std::string_view value = item.segment(0);
    return record_checksum(checksum_seed_, slot, header, {&value, 1}) == expected;
  }
  std::vector<std::string_view> runs;
  for (uint32_t i = 0; i < item.segment_count(); ++i) {
    runs.push_back(item.segment(i));
  }
  return record_checksum(checksum_seed_, slot, header, runs) == expected;
}

}  // namespace pmcached::engine
