#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/item/slot_table.h"
#include "engine/reclaim/epoch.h"
#include "engine/slab/size_class.h"
#include "engine/slab/slab_allocator.h"
#include "engine/slab/slab_pool.h"
#include "pmem/region.h"
#include "tests/support/cache_fixture.h"

namespace pmcached::tests {

/// The lower half of an engine on a few MiB of DRAM: slots and their allocator, without items.
class SlotFixture {
 public:
  /// Class 0 has 16,384 slots a slab, class 1 has 256, class 2 has 2.
  explicit SlotFixture(uint64_t mib = 4) {
    require_ok(pmem::make_dram_region(mib << 20, {1, 64, 8192}, &region_));
    classes_ = std::make_unique<engine::SizeClasses>(region_->slot_lines());
    slots_ = std::make_unique<engine::SlotTable>(*region_, *classes_);
    pool_ = std::make_unique<engine::SlabPool>(*region_, *slots_);
    for (const pmem::SlabRange& range : region_->slab_ranges()) {
      for (uint32_t slab = range.first; slab < range.first + range.count; ++slab) {
        pool_->add_free(slab);
      }
    }
    allocator_ = std::make_unique<engine::SlabAllocator>(*slots_, *pool_, epochs_);
  }

  engine::SlotTable& slots() { return *slots_; }
  engine::SlabPool& pool() { return *pool_; }
  engine::EpochRegistry& epochs() { return epochs_; }
  engine::SlabAllocator& allocator() { return *allocator_; }

  /// A slot that looks as if it held an item.
  engine::SlotReference live_slot(engine::SizeClass size_class = 0) {
    const engine::SlotReference slot = allocator_->allocate(size_class);
    make_live(slot);
    return slot;
  }
  std::vector<engine::SlotReference> live_slots(size_t count) {
    std::vector<engine::SlotReference> slots;
    for (size_t i = 0; i < count; ++i) {
      slots.push_back(live_slot());
    }
    return slots;
  }
  void make_live(engine::SlotReference slot) {
    slots_->meta(slot).begin(engine::SlotState::kLive, engine::SlotMeta::kAnchor);
  }

 private:
  std::unique_ptr<pmem::Region> region_;
  std::unique_ptr<engine::SizeClasses> classes_;
  std::unique_ptr<engine::SlotTable> slots_;
  std::unique_ptr<engine::SlabPool> pool_;
  engine::EpochRegistry epochs_;
  std::unique_ptr<engine::SlabAllocator> allocator_;
};

}  // namespace pmcached::tests
