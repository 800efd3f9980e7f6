// Holds the layouts to the worked example of docs/pool_format.md. A failure here means that pools
// which are out there can no longer be read.

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <string_view>

#include "engine/item/item_layout.h"
#include "engine/item/record_writer.h"
#include "pmem/extent_plan.h"
#include "pmem/slab_directory.h"
#include "pmem/superblock.h"
#include "pmem/two_copies.h"

namespace pmcached::pmem {
namespace {

/// The superblock that the page shows.
Superblock example_superblock() {
  Superblock superblock = make_superblock(std::array<uint32_t, 3>{1, 2, 8192}, 64 << 20);
  std::iota(superblock.uuid.begin(), superblock.uuid.end(), uint8_t{0});
  superblock.created_at = 1700000000;
  superblock.extent_count = 1;
  superblock.extents[0] = plan_extent(0x402410, 62652400);
  superblock.allocator_checksum = 0x12345678;
  return seal_after(0, superblock);
}

std::string hex_line(const void* start, size_t offset) {
  std::array<unsigned char, 16> bytes{};
  std::memcpy(bytes.data(), static_cast<const char*>(start) + offset, bytes.size());
  std::string line;
  for (const unsigned char byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    if (!line.empty()) line += ' ';
    line += kDigits[byte >> 4];
    line += kDigits[byte & 15];
  }
  return line;
}

TEST_CASE("the superblock has the bytes of the format page") {
  const Superblock superblock = example_superblock();
  CHECK(hex_line(&superblock, 0x00) == "70 6d 63 61 63 68 65 64 01 00 00 00 00 00 00 00");
  CHECK(hex_line(&superblock, 0x10) == "01 00 00 00 e5 73 ae ff 00 00 00 00 00 00 00 00");
  CHECK(hex_line(&superblock, 0x30) == "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f");
  CHECK(hex_line(&superblock, 0x40) == "00 f1 53 65 00 00 00 00 00 00 00 04 00 00 00 00");
  CHECK(hex_line(&superblock, 0x50) == "00 00 10 00 40 00 00 00 01 00 00 00 03 00 00 00");
  CHECK(hex_line(&superblock, 0x60) == "01 00 00 00 02 00 00 00 00 20 00 00 00 00 00 00");
  CHECK(hex_line(&superblock, 0x160) == "10 24 40 00 00 00 00 00 f0 ff bb 03 00 00 00 00");
  CHECK(hex_line(&superblock, 0x170) == "00 30 40 00 00 00 00 00 05 00 00 00 3a 00 00 00");
  CHECK(hex_line(&superblock, 0xd60) == "78 56 34 12 00 00 00 00 00 00 00 00 00 00 00 00");
  CHECK(mirror_offset(superblock.extents[0]) == 0x404000);
  CHECK(checksum_seed_of(superblock) == 0x2636f714);
  CHECK(check_superblock("pool", superblock, 0x400000).ok());
}

TEST_CASE("directory words have the values of the format page") {
  std::array<uint64_t, 1> primary{};
  std::array<uint64_t, 1> mirror{};
  const Persister persister(Medium::kAnonymous);
  SlabDirectory directory({{.first_slab = 5, .primary = primary, .mirror = mirror}}, persister);
  directory.format();
  CHECK(primary[0] == 0xefe8e37d0000005a);
  directory.store(5, {.state = SlabState::kAssigned, .size_class = 0, .generation = 1});
  CHECK(primary[0] == 0xd4499348000100a5);
  CHECK(mirror == primary);
}

TEST_CASE("a record has the bytes of the format page") {
  using engine::RecordHeader;
  using engine::SlotKind;
  struct {
    RecordHeader header;
    std::array<char, 32> key_and_value;
  } slot{};
  slot.header.commit_word = engine::make_slot_word(0, 1, 5, SlotKind::kRecord);
  slot.header.cas = 1;
  slot.header.client_flags = 7;
  slot.header.value_length = 5;
  std::memcpy(slot.key_and_value.data(), "helloworld", 10);

  const std::array<std::string_view, 1> value = {
      std::string_view(slot.key_and_value.data() + 5, 5)};
  const uint32_t crc = engine::record_checksum(checksum_seed_of(example_superblock()),
                                               5 * kLinesPerSlab, slot.header, value);
  slot.header.commit_word |= uint64_t{crc} << 32;
  CHECK(hex_line(&slot, 0x00) == "5c 05 01 00 f0 8f d9 fe 01 00 00 00 00 00 00 00");
  CHECK(hex_line(&slot, 0x10) == "07 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00");
  CHECK(hex_line(&slot, 0x20) == "68 65 6c 6c 6f 77 6f 72 6c 64 00 00 00 00 00 00");
  slot.header.commit_word = engine::retired(slot.header.commit_word);
  CHECK(hex_line(&slot, 0).starts_with("53 05 01 00 f0 8f d9 fe"));
}

}  // namespace
}  // namespace pmcached::pmem
