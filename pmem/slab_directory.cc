#include "pmem/slab_directory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <optional>
#include <utility>

#include "pmem/checksum.h"

namespace pmcached::pmem {
namespace {

uint64_t encode(uint32_t slab, const SlabEntry& entry) {
  const uint32_t low = uint32_t{entry.generation} << 16 | uint32_t{entry.size_class} << 8 |
                       static_cast<uint32_t>(entry.state);
  const std::array<uint32_t, 2> checked = {slab, low};
  const uint32_t check = ~extend_crc32c(kCrc32cStart, checked.data(), sizeof(checked));
  return uint64_t{check} << 32 | low;
}

std::optional<SlabEntry> decode(uint32_t slab, uint64_t word) {
  const SlabEntry entry = {.state = static_cast<SlabState>(word & 0xff),
                           .size_class = static_cast<uint8_t>(word >> 8),
                           .generation = static_cast<uint16_t>(word >> 16)};
  if (entry.state != SlabState::kFree && entry.state != SlabState::kAssigned) return std::nullopt;
  if (encode(slab, entry) != word) return std::nullopt;
  return entry;
}

// Relaxed on both sides: a word says everything by itself, and what a slab's records need beyond it
// is ordered by the slab allocator's lock or, in the pool, by the fences of store().
uint64_t load_relaxed(uint64_t& word) {
  return std::atomic_ref<uint64_t>(word).load(std::memory_order_relaxed);
}

void store_durably(uint64_t& word, uint64_t value, const Persister& persister) {
  std::atomic_ref<uint64_t>(word).store(value, std::memory_order_relaxed);
  persister.persist(&word, sizeof(word));
}

}  // namespace

SlabDirectory::SlabDirectory(std::vector<Section> sections, const Persister& persister)
    : sections_(std::move(sections)), persister_(persister) {}

SlabDirectory::Health SlabDirectory::load(uint32_t slab, SlabEntry* entry) const {
  const Section& section = section_of(slab);
  const size_t index = slab - section.first_slab;
  const std::optional<SlabEntry> primary = decode(slab, load_relaxed(section.primary[index]));
  const std::optional<SlabEntry> mirror = decode(slab, load_relaxed(section.mirror[index]));
  if (!primary && !mirror) return Health::kDamaged;
  *entry = primary ? *primary : *mirror;
  return primary && mirror ? Health::kIntact : Health::kRepaired;
}

void SlabDirectory::store(uint32_t slab, const SlabEntry& entry) {
  const Section& section = section_of(slab);
  const size_t index = slab - section.first_slab;
  const uint64_t word = encode(slab, entry);
  store_durably(section.primary[index], word, persister_);
  store_durably(section.mirror[index], word, persister_);
}

void SlabDirectory::format() {
  for (const Section& section : sections_) {
    for (uint32_t i = 0; i < section.primary.size(); ++i) {
      const uint64_t word = encode(section.first_slab + i, SlabEntry{});
      section.primary[i] = word;
      section.mirror[i] = word;
    }
    persister_.flush(section.primary.data(), section.primary.size_bytes());
    persister_.flush(section.mirror.data(), section.mirror.size_bytes());
  }
  persister_.fence();
}

SlabDirectory::Repairs SlabDirectory::repair() {
  Repairs repairs;
  for (const Section& section : sections_) {
    for (uint32_t i = 0; i < section.primary.size(); ++i) {
      const uint32_t slab = section.first_slab + i;
      SlabEntry entry;
      const Health health = load(slab, &entry);
      if (health == Health::kDamaged) {
        ++repairs.damaged;
        continue;
      }
      if (health == Health::kRepaired) ++repairs.repaired;
      const uint64_t word = encode(slab, entry);
      for (uint64_t* copy : {&section.primary[i], &section.mirror[i]}) {
        if (load_relaxed(*copy) != word) store_durably(*copy, word, persister_);
      }
    }
  }
  return repairs;
}

const SlabDirectory::Section& SlabDirectory::section_of(uint32_t slab) const {
  const auto behind = std::upper_bound(
      sections_.begin(), sections_.end(), slab,
      [](uint32_t number, const Section& section) { return number < section.first_slab; });
  return *std::prev(behind);
}

}  // namespace pmcached::pmem
