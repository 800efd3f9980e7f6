#include "pmem/namespace_info.h"

#include <fmt/format.h>
#include <ndctl/libndctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <memory>
#include <system_error>

#include "pmem/file_system.h"

namespace pmcached::pmem {
namespace {

struct ContextReleaser {
  void operator()(ndctl_ctx* context) const { ndctl_unref(context); }
};
using Context = std::unique_ptr<ndctl_ctx, ContextReleaser>;

/// Name of the whole disk ("pmem0", never "pmem0p1") that carries `path` or, if there is no such
/// file, its folder; empty if no block device does.
std::string disk_under(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0 && stat(folder_of(path).c_str(), &facts) != 0) return {};
  std::error_code error;
  const std::filesystem::path device = std::filesystem::canonical(
      fmt::format("/sys/dev/block/{}:{}", major(facts.st_dev), minor(facts.st_dev)), error);
  if (error) return {};
  const bool is_partition = std::filesystem::exists(device / "partition", error);
  return is_partition ? device.parent_path().filename() : device.filename();
}

std::string text(const char* value) {
  return value == nullptr ? "" : value;
}

/// The block device a namespace is used through, which differs by its mode.
std::string disk_of(ndctl_namespace* candidate) {
  if (ndctl_btt* btt = ndctl_namespace_get_btt(candidate)) {
    return text(ndctl_btt_get_block_device(btt));
  }
  if (ndctl_pfn* pfn = ndctl_namespace_get_pfn(candidate)) {
    return text(ndctl_pfn_get_block_device(pfn));
  }
  return text(ndctl_namespace_get_block_device(candidate));
}

const char* mode_name(ndctl_namespace_mode mode) {
  switch (mode) {
    case NDCTL_NS_MODE_FSDAX:
      return "fsdax";
    case NDCTL_NS_MODE_SECTOR:
      return "sector";
    case NDCTL_NS_MODE_RAW:
      return "raw";
    case NDCTL_NS_MODE_DEVDAX:
      return "devdax";
    default:
      return "unknown";
  }
}

const char* domain_name(ndctl_persistence_domain domain) {
  switch (domain) {
    case PERSISTENCE_CPU_CACHE:
      return "cpu_cache";
    case PERSISTENCE_MEM_CTRL:
      return "memory_controller";
    default:
      return "unknown";
  }
}

NamespaceInfo describe(ndctl_region* region, ndctl_namespace* found, const std::string& path,
                       const std::string& disk) {
  NamespaceInfo info{.found = true,
                     .name = text(ndctl_namespace_get_devname(found)),
                     .mode = mode_name(ndctl_namespace_get_mode(found)),
                     .numa_node = ndctl_region_get_numa_node(region),
                     .persistence_domain = domain_name(ndctl_region_get_persistence_domain(region)),
                     .explanation = {}};
  info.explanation =
      fmt::format("{} is on {} of {} in {} mode, NUMA node {}, persistence domain {}", path, disk,
                  info.name, info.mode, info.numa_node, info.persistence_domain);
  return info;
}

NamespaceInfo none(const std::string& reason) {
  NamespaceInfo info;
  info.persistence_domain = domain_name(PERSISTENCE_UNKNOWN);
  info.explanation = "no NVDIMM here: " + reason;
  return info;
}

}  // namespace

NamespaceInfo describe_namespace(const std::string& path) {
  const std::string disk = disk_under(path);
  if (disk.empty()) return none(fmt::format("no block device carries {}", path));
  ndctl_ctx* created = nullptr;
  if (const int error = ndctl_new(&created); error < 0) {
    return none(fmt::format("libndctl does not start ({})",
                            std::error_code(-error, std::generic_category()).message()));
  }
  const Context context(created);
  ndctl_bus* bus = nullptr;
  ndctl_bus_foreach(context.get(), bus) {
    ndctl_region* region = nullptr;
    ndctl_region_foreach(bus, region) {
      ndctl_namespace* candidate = nullptr;
      ndctl_namespace_foreach(region, candidate) {
        if (disk_of(candidate) == disk) return describe(region, candidate, path, disk);
      }
    }
  }
  return none(fmt::format("{} is on {}, which is no NVDIMM namespace", path, disk));
}

}  // namespace pmcached::pmem
