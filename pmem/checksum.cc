#include "pmem/checksum.h"

#include <isa-l/crc.h>

namespace pmcached::pmem {

uint32_t extend_crc32c(uint32_t seed, const void* data, size_t size) {
  // ISA-L only reads, but declares the buffer as writable.
  auto* bytes = static_cast<unsigned char*>(const_cast<void*>(data));
  return crc32_iscsi(bytes, static_cast<int>(size), seed);
}

}  // namespace pmcached::pmem
