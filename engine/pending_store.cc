#include "engine/pending_store.h"

#include <utility>

#include "engine/slot_supply.h"

namespace pmcached::engine {

void PendingStore::write(std::span<const char> bytes) {
  if (is_staged()) {
    staged_.insert(staged_.end(), bytes.begin(), bytes.end());
  } else {
    writer_.write(bytes);
  }
}

uint32_t PendingStore::missing() const {
  return is_staged() ? request_.length - static_cast<uint32_t>(staged_.size()) : writer_.missing();
}

void PendingStore::abandon() {
  SlotSupply* supply = std::exchange(supply_, nullptr);
  if (supply != nullptr && !is_staged()) {
    supply->abandon(writer_.place());
  }
  staged_ = {};
}

}  // namespace pmcached::engine
