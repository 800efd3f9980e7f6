#pragma once

#include <array>

namespace pmcached::pmem {

/// The identity of the running boot, NUL-padded as RunState keeps it.
using BootId = std::array<char, 40>;

/// What the kernel says; all NUL if it does not say. Thread safety: any thread.
BootId read_boot_id();

/// Whether both name one boot. Unknown ids equal nothing, not even each other.
bool same_boot(const BootId& a, const BootId& b);

}  // namespace pmcached::pmem
