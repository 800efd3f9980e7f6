#include "pmem/medium.h"

#include <fmt/format.h>
#include <libpmem.h>

#include <string_view>

namespace pmcached::pmem {

Medium detect_medium(const std::string& path, const void* base, size_t bytes) {
  if (pmem_is_pmem(base, bytes) != 0) return Medium::kPmem;
  // pmem_is_pmem() knows only mappings that libpmem made itself, so on fsdax it may not know
  // libpmemobj's. A mapping of libpmem's own, made by the same rules, answers for the file.
  size_t mapped_bytes = 0;
  int is_pmem = 0;
  void* probe = pmem_map_file(path.c_str(), 0, 0, 0, &mapped_bytes, &is_pmem);
  if (probe == nullptr) return Medium::kPageCache;
  pmem_unmap(probe, mapped_bytes);
  return is_pmem != 0 ? Medium::kPmem : Medium::kPageCache;
}

bool survives_power_cut(Medium medium, const FileSystem& file_system) {
  return medium == Medium::kPmem && !file_system.in_memory;
}

std::string describe_medium(const std::string& path, size_t bytes, Medium medium,
                            const FileSystem& file_system) {
  const std::string_view access =
      medium == Medium::kPmem ? "as persistent memory" : "through the page cache";
  std::string_view survival;
  if (file_system.in_memory) {
    survival = "it survives a crash of the server, but not a restart of the machine";
  } else if (medium == Medium::kPmem) {
    survival = "it survives a crash of the server, a crash of the kernel and a power cut";
  } else {
    survival =
        "it survives a crash of the server, but after a crash of the kernel or a power cut nobody "
        "knows which stores reached the disk";
  }
  return fmt::format("pool {} of {} MiB on {} {}: {}", path, bytes >> 20, file_system.name, access,
                     survival);
}

}  // namespace pmcached::pmem
