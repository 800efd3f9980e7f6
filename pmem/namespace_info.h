#pragma once

#include <string>

namespace pmcached::pmem {

/// What libndctl knows of the memory under a path.
struct NamespaceInfo {
  bool found = false;              ///< false: no NVDIMM namespace is under the path
  std::string name;                ///< "namespace0.0"
  std::string mode;                ///< "fsdax", "devdax", "sector", "raw"
  int numa_node = -1;              ///< -1 = not known
  std::string persistence_domain;  ///< "cpu_cache", "memory_controller" or "unknown"
  std::string explanation;         ///< one sentence for the log, also when nothing was found
};

/// Looks up the namespace whose block device carries the file system of `path` (or of its folder,
/// when the file is not there yet). Never fails: what cannot be found out is said in `explanation`
/// ("no NVDIMM here: ..."). Thread safety: any thread; takes milliseconds.
NamespaceInfo describe_namespace(const std::string& path);

}  // namespace pmcached::pmem
