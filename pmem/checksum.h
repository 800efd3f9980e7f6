#pragma once

#include <cstddef>
#include <cstdint>

namespace pmcached::pmem {

/// CRC32C (Castagnoli) of a run of bytes, computed by ISA-L. `seed` continues an earlier run:
/// extend_crc32c(extend_crc32c(s, a), b) == extend_crc32c(s, a + b). The value is the raw
/// register: callers that want the usual check value start from kCrc32cStart and invert the end.
///
/// Thread safety: pure function. Precondition: size < 2^31.
uint32_t extend_crc32c(uint32_t seed, const void* data, size_t size);

inline constexpr uint32_t kCrc32cStart = 0xffffffffU;

}  // namespace pmcached::pmem
