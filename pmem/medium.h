#pragma once

#include <cstddef>
#include <string>

#include "pmem/file_system.h"
#include "pmem/persister.h"

namespace pmcached::pmem {

/// How stores to a mapping of the file `path` become durable: kPmem or kPageCache. `base` and
/// `bytes` are libpmemobj's mapping of it.
Medium detect_medium(const std::string& path, const void* base, size_t bytes);

/// Whether fenced stores to a file survive the machine's stop.
bool survives_power_cut(Medium medium, const FileSystem& file_system);

/// One sentence: the pool's size, where it lies, and which failures it survives.
std::string describe_medium(const std::string& path, size_t bytes, Medium medium,
                            const FileSystem& file_system);

}  // namespace pmcached::pmem
