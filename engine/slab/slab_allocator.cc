#include "engine/slab/slab_allocator.h"

#include <algorithm>
#include <bit>

namespace pmcached::engine {
namespace {

/// Slots freed at most by one allocation, so that none of them takes long.
constexpr uint32_t kCollectBatch = 64;

}  // namespace

SlabAllocator::SlabAllocator(SlotTable& slots, SlabPool& pool, EpochRegistry& epochs)
    : slots_(slots), pool_(pool), epochs_(epochs), slabs_(slots.slab_limit()) {}

SlotReference SlabAllocator::allocate(SizeClass size_class) {
  ClassState& state = classes_[size_class];
  MutexLock lock(state.mutex);
  if (state.limbo.size() >= kCollectBatch) {
    collect_locked(state);
  }
  SlotReference slot = take_free(state);
  if (slot == kNoSlot && collect_locked(state) > 0) {
    slot = take_free(state);
  }
  if (slot == kNoSlot) {
    if (const auto slab = pool_.carve(size_class)) {
      add_slab(state, *slab, size_class);
      slot = take_free(state);
    }
  }
  return slot;
}

void SlabAllocator::abandon(SlotReference slot) {
  ClassState& state = classes_[slots_.class_of(slot)];
  MutexLock lock(state.mutex);
  put_free(state, slot);
}

void SlabAllocator::retire(SlotReference slot) {
  SlotMeta& meta = slots_.meta(slot);
  meta.set_state(meta.state() == SlotState::kChunk ? SlotState::kRetiredChunk
                                                   : SlotState::kRetired);
  ClassState& state = classes_[slots_.class_of(slot)];
  MutexLock lock(state.mutex);
  state.limbo.push_back({.tag = epochs_.retire_tag(), .slot = slot});
  if (state.limbo.size() % kCollectBatch == 0) {
    epochs_.advance();
  }
}

uint32_t SlabAllocator::collect(SizeClass size_class) {
  ClassState& state = classes_[size_class];
  MutexLock lock(state.mutex);
  uint32_t freed = 0;
  for (uint32_t batch = kCollectBatch; batch == kCollectBatch; freed += batch) {
    batch = collect_locked(state);
  }
  return freed;
}

void SlabAllocator::adopt(uint32_t slab) {
  const SizeClass size_class = slots_.class_of_slab(slab);
  ClassState& state = classes_[size_class];
  MutexLock lock(state.mutex);
  add_slab(state, slab, size_class);
}

bool SlabAllocator::start_draining(uint32_t slab) {
  ClassState& state = classes_[slots_.class_of_slab(slab)];
  MutexLock lock(state.mutex);
  if (slabs_[slab].draining) {
    return false;
  }
  before_change(slabs_[slab]);
  slabs_[slab].draining = true;
  std::erase(state.with_space, slab);
  state.free_slots -= slabs_[slab].free_slots;
  return true;
}

void SlabAllocator::stop_draining(uint32_t slab) {
  ClassState& state = classes_[slots_.class_of_slab(slab)];
  MutexLock lock(state.mutex);
  slabs_[slab].draining = false;
  after_change(slabs_[slab]);
  state.free_slots += slabs_[slab].free_slots;
  if (slabs_[slab].free_slots > 0) {
    state.with_space.push_back(slab);
  }
}

bool SlabAllocator::release_if_empty(uint32_t slab) {
  const SizeClass size_class = slots_.class_of_slab(slab);
  ClassState& state = classes_[size_class];
  MutexLock lock(state.mutex);
  while (collect_locked(state) == kCollectBatch) {
  }
  if (slabs_[slab].free_slots != slots_.classes().slots_per_slab(size_class)) {
    return false;
  }
  std::erase(state.slabs, slab);
  slabs_[slab] = Slab{};
  return true;
}

SlabAllocator::ClassUsage SlabAllocator::usage(SizeClass size_class) const {
  const ClassState& state = classes_[size_class];
  MutexLock lock(state.mutex);
  return {.slabs = state.slabs.size(),
          .free_slots = state.free_slots,
          .waiting_slots = state.limbo.size(),
          .pinned_slots = state.pinned.size()};
}

std::vector<uint32_t> SlabAllocator::slabs_of(SizeClass size_class) const {
  const ClassState& state = classes_[size_class];
  MutexLock lock(state.mutex);
  std::vector<uint32_t> slabs = state.slabs;
  std::ranges::stable_sort(slabs, std::ranges::greater{},
                           [this](uint32_t slab) { return slabs_[slab].free_slots; });
  return slabs;
}

bool SlabAllocator::is_unused(uint32_t slab) const {
  const SizeClass size_class = slots_.class_of_slab(slab);
  if (size_class == kNoSizeClass) {
    return false;
  }
  MutexLock lock(classes_[size_class].mutex);
  return is_spare(slabs_[slab]);
}

SlotReference SlabAllocator::take_free(ClassState& state) {
  if (state.with_space.empty()) {
    return kNoSlot;
  }
  const uint32_t number = state.with_space.back();
  Slab& slab = slabs_[number];
  while (slab.free_bits[slab.first_word] == 0) {
    ++slab.first_word;
  }
  uint64_t& word = slab.free_bits[slab.first_word];
  const auto bit = static_cast<uint32_t>(std::countr_zero(word));
  word &= word - 1;
  --state.free_slots;
  before_change(slab);
  if (--slab.free_slots == 0) {
    state.with_space.pop_back();
  }
  const SlotReference slot = slots_.slot_at(number, slab.size_class, slab.first_word * 64 + bit);
  slots_.meta(slot).set_state(SlotState::kReserved);
  return slot;
}

void SlabAllocator::put_free(ClassState& state, SlotReference slot) {
  const uint32_t number = SlotTable::slab_of(slot);
  Slab& slab = slabs_[number];
  const uint32_t index = slots_.classes().slot_index(
      slab.size_class, static_cast<uint32_t>(slot % pmem::kLinesPerSlab));
  SlotMeta& meta = slots_.meta(slot);
  // A slot that lies in a bag stays there until it is taken out or holds an item again.
  const uint64_t before = meta.begin(SlotState::kFree, 0);
  if (SlotMeta::state_of(before) == SlotState::kRetiredChunk) {
    meta.pins.store(0, std::memory_order_relaxed);  // It named the owner.
  }
  slab.free_bits[index / 64] |= uint64_t{1} << (index % 64);
  slab.first_word = std::min(slab.first_word, index / 64);
  if (slab.free_slots++ == 0 && !slab.draining) {
    state.with_space.push_back(number);
  }
  after_change(slab);
  if (!slab.draining) {
    ++state.free_slots;
  }
}

uint32_t SlabAllocator::collect_locked(ClassState& state) {
  uint32_t freed = 0;
  if (!state.pinned.empty()) {
    std::erase_if(state.pinned, [&](SlotReference slot) NO_THREAD_SAFETY_ANALYSIS {
      if (is_pinned(slot)) {
        return false;
      }
      put_free(state, slot);
      ++freed;
      return true;
    });
  }
  for (uint32_t i = 0; i < kCollectBatch && !state.limbo.empty(); ++i) {
    const auto [tag, slot] = state.limbo.front();
    if (!epochs_.is_safe(tag)) {
      break;
    }
    state.limbo.pop_front();
    if (is_pinned(slot)) {
      state.pinned.push_back(slot);
    } else {
      put_free(state, slot);
      ++freed;
    }
  }
  return freed;
}

void SlabAllocator::add_slab(ClassState& state, uint32_t number, SizeClass size_class) {
  const uint32_t count = slots_.classes().slots_per_slab(size_class);
  Slab& slab = slabs_[number];
  slab = {.size_class = size_class, .free_bits = std::make_unique<uint64_t[]>((count + 63) / 64)};
  for (uint32_t i = 0; i < count; ++i) {
    if (slots_.meta(slots_.slot_at(number, size_class, i)).state() == SlotState::kFree) {
      slab.free_bits[i / 64] |= uint64_t{1} << (i % 64);
      ++slab.free_slots;
    }
  }
  after_change(slab);
  state.slabs.push_back(number);
  state.free_slots += slab.free_slots;
  if (slab.free_slots > 0) {
    state.with_space.push_back(number);
  }
}

bool SlabAllocator::is_pinned(SlotReference slot) const {
  const SlotMeta* meta = &slots_.meta(slot);
  if (meta->state() == SlotState::kRetiredChunk) {
    // A chunk is pinned through the record that owns it. If the owner's slot has been reused since,
    // the pins seen are another item's and only delay the chunk.
    meta = slots_.find_meta(meta->owner());
    if (meta == nullptr) {
      return false;
    }
  }
  // Acquire pairs with the release of Pin::release(): the reply has read its last byte.
  return meta->pins.load(std::memory_order_acquire) != 0;
}

}  // namespace pmcached::engine
