#pragma once

#include <libpmemobj.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "pmem/status.h"

namespace pmcached::pmem {

struct ObjectPoolCloser {
  void operator()(PMEMobjpool* pool) const { pmemobj_close(pool); }
};
/// A pool mapped and locked by libpmemobj; closed with the pointer. Its address is that of the
/// file's first byte.
using ObjectPool = std::unique_ptr<PMEMobjpool, ObjectPoolCloser>;

inline std::byte* base_of(const ObjectPool& pool) {
  return reinterpret_cast<std::byte*>(pool.get());
}

/// Lets libpmemobj create the file `path` with `bytes` bytes, all of them allocated.
Status create_object_pool(const std::string& path, uint64_t bytes, ObjectPool* pool);

/// Lets libpmemobj open and map the whole file. Precondition: inspect_pool() accepted it.
Status open_object_pool(const std::string& path, ObjectPool* pool);

/// Opens and closes the pool in a child process, for a pool whose libpmemobj metadata is damaged:
/// libpmemobj may die of that, or refuse. Success means that open_object_pool() will succeed.
/// Precondition: no lock that another thread may hold is needed by libpmemobj or malloc.
Status try_object_pool(const std::string& path);

}  // namespace pmcached::pmem
