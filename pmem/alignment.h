#pragma once

#include <cstdint>

namespace pmcached::pmem {

/// The smallest multiple of `alignment` that is not below `value`.
constexpr uint64_t align_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace pmcached::pmem
