#include "pmem/boot_id.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace pmcached::pmem {

BootId read_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(file, text);
  BootId id{};
  std::copy_n(text.begin(), std::min(text.size(), id.size() - 1), id.begin());
  return id;
}

bool same_boot(const BootId& a, const BootId& b) {
  return a == b && a != BootId{};
}

}  // namespace pmcached::pmem
