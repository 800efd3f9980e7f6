#include "pmem/persister.h"

#include <fmt/format.h>
#include <libpmem.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace pmcached::pmem {
namespace {

// fence() drains for all copies of a thread at once, so no copy does so by itself.
constexpr unsigned kPastTheCaches = PMEM_F_MEM_NONTEMPORAL | PMEM_F_MEM_NODRAIN;

}  // namespace

void Persister::copy(void* to, const void* from, size_t size) const {
  if (medium_ == Medium::kPmem) {
    pmem_memcpy(to, from, size, kPastTheCaches);
  } else {
    std::memcpy(to, from, size);
  }
}

void Persister::zero(void* to, size_t size) const {
  if (medium_ == Medium::kPmem) {
    pmem_memset(to, 0, size, kPastTheCaches);
  } else {
    std::memset(to, 0, size);
  }
}

void Persister::flush(const void* at, size_t size) const {
  if (medium_ == Medium::kPmem) pmem_flush(at, size);
}

void Persister::fence() const {
  // Release: pairs with the acquire load by which a reader finds what is published after this
  // fence. pmem_drain() adds what the language does not know of: non-temporal stores and flushes.
  std::atomic_thread_fence(std::memory_order_release);
  if (medium_ == Medium::kPmem) pmem_drain();
}

Status Persister::sync(const void* at, size_t size) const {
  if (medium_ != Medium::kPageCache || pmem_msync(at, size) == 0) return {};
  return {Status::Code::kIo,
          fmt::format("cannot sync {} bytes to the disk: {}", size, std::strerror(errno))};
}

}  // namespace pmcached::pmem
