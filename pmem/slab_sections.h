#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pmem/pool_layout.h"
#include "pmem/slab_directory.h"

namespace pmcached::pmem {

/// Where the directory words of checked `extents` lie in the mapping that starts at `base`.
std::vector<SlabDirectory::Section> sections_of(std::byte* base, std::span<const Extent> extents);

}  // namespace pmcached::pmem
