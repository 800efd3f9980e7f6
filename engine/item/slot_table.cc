#include "engine/item/slot_table.h"

namespace pmcached::engine {

SlotTable::SlotTable(const pmem::Region& region, const SizeClasses& classes)
    : base_(region.base()),
      classes_(classes),
      slab_class_(region.slab_limit()),
      meta_(uint64_t{region.slab_limit()} * pmem::kLinesPerSlab) {
  for (auto& size_class : slab_class_) {
    size_class.store(kNoSizeClass, std::memory_order_relaxed);
  }
}

bool SlotTable::is_slot(SlotReference slot) const {
  const uint64_t slab = slot / pmem::kLinesPerSlab;
  if (slab >= slab_class_.size()) {
    return false;
  }
  const SizeClass size_class = class_of_slab(static_cast<uint32_t>(slab));
  if (size_class == kNoSizeClass) {
    return false;
  }
  const auto line = static_cast<uint32_t>(slot % pmem::kLinesPerSlab);
  const uint32_t index = classes_.slot_index(size_class, line);
  return index < classes_.slots_per_slab(size_class) &&
         index * classes_.slot_lines(size_class) == line;
}

void SlotTable::attach(uint32_t slab, SizeClass size_class) {
  slab_class_[slab].store(size_class, std::memory_order_relaxed);
}

void SlotTable::detach(uint32_t slab) {
  slab_class_[slab].store(kNoSizeClass, std::memory_order_relaxed);
  meta_.discard(uint64_t{slab} * pmem::kLinesPerSlab, pmem::kLinesPerSlab);
}

}  // namespace pmcached::engine
