#include "engine/slab/slab_pool.h"

namespace pmcached::engine {

SlabPool::SlabPool(pmem::Region& region, SlotTable& slots)
    : region_(region), slots_(slots), generations_(region.slab_limit()) {
  for (const pmem::SlabRange& range : region.slab_ranges()) {
    total_ += range.count;
  }
}

void SlabPool::add_free(uint32_t slab) {
  MutexLock lock(mutex_);
  free_.push_back(slab);
}

std::optional<uint32_t> SlabPool::carve(SizeClass size_class) {
  uint32_t slab = 0;
  {
    MutexLock lock(mutex_);
    if (free_.empty()) {
      return std::nullopt;
    }
    slab = free_.back();
    free_.pop_back();
  }
  const pmem::Persister& persister = region_.persister();
  const uint32_t slots = slots_.classes().slots_per_slab(size_class);
  for (uint32_t i = 0; i < slots; ++i) {
    persister.zero(slots_.address(slots_.slot_at(slab, size_class, i)), pmem::kLineSize);
  }
  persister.fence();
  ++generations_[slab];
  region_.directory().store(slab, {.state = pmem::SlabState::kAssigned,
                                   .size_class = size_class,
                                   .generation = generations_[slab]});
  slots_.attach(slab, size_class);
  return slab;
}

void SlabPool::give_back(uint32_t slab) {
  slots_.detach(slab);
  region_.directory().store(
      slab, {.state = pmem::SlabState::kFree, .size_class = 0, .generation = generations_[slab]});
  MutexLock lock(mutex_);
  free_.push_back(slab);
}

uint64_t SlabPool::free_count() const {
  MutexLock lock(mutex_);
  return free_.size();
}

}  // namespace pmcached::engine
