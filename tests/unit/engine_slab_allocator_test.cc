#include <catch2/catch.hpp>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

#include "engine/item/item_view.h"
#include "tests/support/slot_fixture.h"

namespace pmcached::engine {
namespace {

using tests::SlotFixture;

/// Of SlotFixture's classes:
constexpr SizeClass kSmall = 0;
constexpr SizeClass kMiddle = 1;  // 256 slots a slab
constexpr SizeClass kLarge = 2;   // 2 slots a slab

void let_a_grace_period_pass(SlotFixture& fixture) {
  fixture.epochs().advance();
}

SlotState state_of(SlotFixture& fixture, SlotReference slot) {
  return fixture.slots().meta(slot).state();
}

TEST_CASE("every slot of every slab is handed out once, then none") {
  SlotFixture fixture(3);
  const SizeClass size_class = GENERATE(kMiddle, kLarge);
  std::set<SlotReference> slots;
  for (SlotReference slot; (slot = fixture.allocator().allocate(size_class)) != kNoSlot;) {
    REQUIRE(slots.insert(slot).second);
    REQUIRE(fixture.slots().is_slot(slot));
    REQUIRE(state_of(fixture, slot) == SlotState::kReserved);
  }
  REQUIRE(slots.size() == 3 * fixture.slots().classes().slots_per_slab(size_class));
  REQUIRE(fixture.allocator().usage(size_class).slabs == 3);
  REQUIRE(fixture.allocator().usage(size_class).free_slots == 0);
  REQUIRE(fixture.pool().free_count() == 0);
  REQUIRE(fixture.allocator().allocate(kSmall) == kNoSlot);
}

TEST_CASE("an abandoned slot is free at once") {
  SlotFixture fixture;
  const SlotReference slot = fixture.allocator().allocate(kLarge);
  REQUIRE(fixture.allocator().usage(kLarge).free_slots == 1);
  fixture.allocator().abandon(slot);
  REQUIRE(fixture.allocator().usage(kLarge).free_slots == 2);
  REQUIRE(state_of(fixture, slot) == SlotState::kFree);
  REQUIRE(fixture.allocator().allocate(kLarge) == slot);
}

TEST_CASE("a retired slot is free after a grace period, not before") {
  SlotFixture fixture(1);
  EpochRegistry::Participant reader(fixture.epochs());
  const SlotReference slot = fixture.live_slot(kLarge);
  fixture.live_slot(kLarge);
  reader.enter();
  fixture.allocator().retire(slot);
  REQUIRE(state_of(fixture, slot) == SlotState::kRetired);
  let_a_grace_period_pass(fixture);
  REQUIRE(fixture.allocator().collect(kLarge) == 0);
  REQUIRE(fixture.allocator().allocate(kLarge) == kNoSlot);
  REQUIRE(fixture.allocator().usage(kLarge).waiting_slots == 1);
  reader.leave();
  REQUIRE(fixture.allocator().collect(kLarge) == 1);
  REQUIRE(state_of(fixture, slot) == SlotState::kFree);
  REQUIRE(fixture.allocator().usage(kLarge).waiting_slots == 0);
  REQUIRE(fixture.allocator().allocate(kLarge) == slot);
}

TEST_CASE("a pinned slot is not free before its last pin is gone") {
  SlotFixture fixture(1);
  const SlotReference slot = fixture.live_slot(kLarge);
  std::optional<Pin> first(std::in_place, &fixture.slots().meta(slot));
  std::optional<Pin> second(std::in_place, &fixture.slots().meta(slot));
  fixture.allocator().retire(slot);
  let_a_grace_period_pass(fixture);
  REQUIRE(fixture.allocator().collect(kLarge) == 0);
  REQUIRE(fixture.allocator().usage(kLarge).pinned_slots == 1);
  first.reset();
  REQUIRE(fixture.allocator().collect(kLarge) == 0);
  Pin moved = std::move(*second);
  second.reset();
  REQUIRE(fixture.allocator().collect(kLarge) == 0);
  moved = Pin();
  REQUIRE(fixture.allocator().collect(kLarge) == 1);
  REQUIRE(fixture.allocator().usage(kLarge).pinned_slots == 0);
}

TEST_CASE("a chunk is pinned through the record that owns it") {
  SlotFixture fixture;
  const SlotReference record = fixture.live_slot(kSmall);
  const SlotReference chunk = fixture.allocator().allocate(kLarge);
  fixture.slots().meta(chunk).set_owner(record);
  fixture.slots().meta(chunk).begin(SlotState::kChunk, SlotMeta::kAnchor);
  std::optional<Pin> pin(std::in_place, &fixture.slots().meta(record));
  fixture.allocator().retire(chunk);
  fixture.allocator().retire(record);
  REQUIRE(state_of(fixture, chunk) == SlotState::kRetiredChunk);
  let_a_grace_period_pass(fixture);
  REQUIRE(fixture.allocator().collect(kLarge) == 0);
  REQUIRE(fixture.allocator().collect(kSmall) == 0);
  pin.reset();
  SECTION("whichever of the two is freed first") {
    const bool record_first = GENERATE(false, true);
    REQUIRE(fixture.allocator().collect(record_first ? kSmall : kLarge) == 1);
    REQUIRE(fixture.allocator().collect(record_first ? kLarge : kSmall) == 1);
  }
  SECTION("even if the record's slab is gone by then") {
    REQUIRE(fixture.allocator().collect(kSmall) == 1);
    const uint32_t slab = SlotTable::slab_of(record);
    REQUIRE(fixture.allocator().start_draining(slab));
    REQUIRE(fixture.allocator().release_if_empty(slab));
    fixture.pool().give_back(slab);
    REQUIRE(fixture.allocator().collect(kLarge) == 1);
  }
  // What the chunk's metadata said of its owner is not taken for pins of the next item.
  const SlotReference next = fixture.allocator().allocate(kLarge);
  fixture.make_live(next);
  fixture.allocator().retire(next);
  let_a_grace_period_pass(fixture);
  REQUIRE(fixture.allocator().collect(kLarge) == 1);
}

TEST_CASE("an item can have only so many pins, and the rest are refused") {
  SlotFixture fixture;
  const SlotReference slot = fixture.live_slot(kLarge);
  std::vector<Pin> pins;
  for (;;) {
    Pin pin(&fixture.slots().meta(slot));
    if (!pin) break;
    pins.push_back(std::move(pin));
    REQUIRE(pins.size() < 65'536);
  }
  REQUIRE(pins.size() > 50'000);
  fixture.allocator().retire(slot);
  let_a_grace_period_pass(fixture);
  REQUIRE(fixture.allocator().collect(kLarge) == 0);
  pins.clear();
  REQUIRE(fixture.allocator().collect(kLarge) == 1);
}

TEST_CASE("thousands of retired slots come back, pinned ones among them later") {
  SlotFixture fixture;
  std::vector<SlotReference> slots = fixture.live_slots(5'000);
  std::vector<Pin> pins;
  for (size_t i = 0; i < slots.size(); i += 3) {
    pins.emplace_back(&fixture.slots().meta(slots[i]));
  }
  const uint64_t free_before = fixture.allocator().usage(kSmall).free_slots;
  for (const SlotReference slot : slots) {
    fixture.allocator().retire(slot);
  }
  let_a_grace_period_pass(fixture);
  while (fixture.allocator().usage(kSmall).waiting_slots > 0) {
    fixture.allocator().collect(kSmall);
  }
  REQUIRE(fixture.allocator().usage(kSmall).pinned_slots == pins.size());
  REQUIRE(fixture.allocator().usage(kSmall).free_slots == free_before + 5'000 - pins.size());
  pins.clear();
  fixture.allocator().collect(kSmall);
  REQUIRE(fixture.allocator().usage(kSmall).free_slots == free_before + 5'000);
}

TEST_CASE("a draining slab hands out no slots, and is released once all are free") {
  SlotFixture fixture(2);
  const SlotReference held = fixture.allocator().allocate(kLarge);
  const uint32_t slab = SlotTable::slab_of(held);
  REQUIRE(fixture.allocator().start_draining(slab));
  REQUIRE_FALSE(fixture.allocator().start_draining(slab));
  REQUIRE(fixture.allocator().usage(kLarge).free_slots == 0);
  const SlotReference elsewhere = fixture.allocator().allocate(kLarge);
  REQUIRE(SlotTable::slab_of(elsewhere) != slab);
  REQUIRE_FALSE(fixture.allocator().release_if_empty(slab));

  SECTION("stopped, it serves again with all its slots") {
    fixture.allocator().abandon(held);
    fixture.allocator().stop_draining(slab);
    REQUIRE(fixture.allocator().usage(kLarge).free_slots == 3);
    std::set<SlotReference> slots;
    for (int i = 0; i < 3; ++i) {
      slots.insert(fixture.allocator().allocate(kLarge));
    }
    REQUIRE(slots.size() == 3);
    REQUIRE(slots.count(kNoSlot) == 0);
  }
  SECTION("emptied, it goes back to the pool and to any class") {
    fixture.allocator().abandon(held);
    REQUIRE(fixture.allocator().usage(kLarge).free_slots == 1);
    REQUIRE(fixture.allocator().release_if_empty(slab));
    const uint16_t generation = fixture.pool().generation(slab);
    fixture.pool().give_back(slab);
    REQUIRE_FALSE(fixture.slots().is_slot(held));
    REQUIRE(fixture.pool().free_count() == 1);
    const SlotReference small = fixture.allocator().allocate(kSmall);
    REQUIRE(SlotTable::slab_of(small) == slab);
    REQUIRE(fixture.pool().generation(slab) == generation + 1);
    REQUIRE(fixture.slots().meta(small).pins.load() == 0);
  }
}

TEST_CASE("carving clears the first word of every slot, so no client byte can be a record") {
  SlotFixture fixture(1);
  const SlotReference large = fixture.allocator().allocate(kLarge);
  const uint32_t slab = SlotTable::slab_of(large);
  std::memset(fixture.slots().address(fixture.slots().slot_at(slab, kSmall, 0)), 0x5c,
              pmem::kSlabSize);
  fixture.allocator().abandon(large);
  REQUIRE(fixture.allocator().start_draining(slab));
  REQUIRE(fixture.allocator().release_if_empty(slab));
  fixture.pool().give_back(slab);
  REQUIRE(SlotTable::slab_of(fixture.allocator().allocate(kMiddle)) == slab);
  for (uint32_t i = 0; i < fixture.slots().classes().slots_per_slab(kMiddle); ++i) {
    REQUIRE(fixture.slots().word(fixture.slots().slot_at(slab, kMiddle, i)) == 0);
  }
}

}  // namespace
}  // namespace pmcached::engine
