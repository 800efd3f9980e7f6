#include "server/commands/prefix_statistics.h"

#include <fmt/format.h>

#include <iterator>

namespace pmcached::server {

void PrefixStatistics::count_slowly(Command command, std::string_view key, bool hit) {
  const size_t end = key.find(delimiter_);
  if (end == std::string_view::npos) {
    return;
  }
  const std::string_view prefix = key.substr(0, end);
  const std::scoped_lock lock(mutex_);
  auto found = by_prefix_.find(prefix);
  if (found == by_prefix_.end()) {
    if (by_prefix_.size() >= kMaxPrefixes) {
      return;
    }
    found = by_prefix_.emplace(prefix, Counts()).first;
  }
  Counts& counts = found->second;
  switch (command) {
    case Command::kGet:
      ++counts.gets;
      counts.hits += hit ? 1 : 0;
      break;
    case Command::kSet:
      ++counts.sets;
      break;
    case Command::kDelete:
      ++counts.deletes;
      break;
  }
}

std::string PrefixStatistics::dump() const {
  std::string lines;
  const std::scoped_lock lock(mutex_);
  for (const auto& [prefix, counts] : by_prefix_) {
    fmt::format_to(std::back_inserter(lines), "PREFIX {} get {} hit {} set {} del {}\r\n", prefix,
                   counts.gets, counts.hits, counts.sets, counts.deletes);
  }
  lines += "END\r\n";
  return lines;
}

void PrefixStatistics::clear() {
  const std::scoped_lock lock(mutex_);
  by_prefix_.clear();
}

}  // namespace pmcached::server
