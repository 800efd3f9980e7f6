#include "server/config/extended_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>

#include "server/config/number.h"
#include "server/config/usage.h"

namespace pmcached::server {
namespace {

/// A suboption that does something.
struct Effective {
  std::string_view name;
  std::string_view value;  ///< placeholder of its value; empty = takes none
  int64_t min;             ///< of the value
  int64_t max;
  void (*apply)(Options& options, int64_t value);
  std::string_view description;
};

constexpr Effective kEffective[] = {
    {"maxconns_fast", "", 0, 0, [](Options& o, int64_t) { o.reject_at_limit = true; },
     "tell clients above the connection limit so (default)"},
    {"no_maxconns_fast", "", 0, 0, [](Options& o, int64_t) { o.reject_at_limit = false; },
     "let clients above the connection limit wait"},
    {"hashpower", "<num>", 12, 30,
     [](Options& o, int64_t value) { o.initial_hash_power = static_cast<uint32_t>(value); },
     "log2 of the hash buckets to start with, 12 to 30 (default: 16);\nthe table grows by itself"},
    {"recovery_threads", "<num>", 1, 1024,
     [](Options& o, int64_t value) { o.recovery_threads = static_cast<uint32_t>(value); },
     "threads that recover a pool (default: one per core)"},
    {"salvage_after_power_loss", "", 0, 0,
     [](Options& o, int64_t) { o.salvage_after_power_loss = true; },
     "after a power cut on storage without DAX, keep every item\n"
     "that verifies, although an older value may come back\n"
     "(default: start empty)"},
};

/// A suboption of memcached's that this server takes without needing it.
struct Ignored {
  enum class Value { kNone, kNumber, kText, kOptional };
  std::string_view name;
  Value value;
  std::string_view reason;
};

constexpr std::string_view kBags = "items are kept in bags, not in memcached's segmented LRU";
constexpr std::string_view kNoCrawler = "a cleaner thread removes expired items";
constexpr std::string_view kNoWatchers = "there are no log watchers";
constexpr std::string_view kRebalancing = "slabs move between size classes when they are needed";
constexpr std::string_view kDefaults = "there are no defaults of other releases to choose from";

constexpr Ignored kIgnored[] = {
    {"tail_repair_time", Ignored::Value::kNumber, "no item can be left locked"},
    {"hash_algorithm", Ignored::Value::kText, "keys are hashed by XXH3"},
    {"no_hashexpand", Ignored::Value::kNone, "the hash table grows without holding up requests"},
    {"lru_crawler", Ignored::Value::kNone, kNoCrawler},
    {"no_lru_crawler", Ignored::Value::kNone, kNoCrawler},
    {"lru_crawler_sleep", Ignored::Value::kNumber, kNoCrawler},
    {"lru_crawler_tocrawl", Ignored::Value::kNumber, kNoCrawler},
    {"lru_maintainer", Ignored::Value::kNone, kBags},
    {"no_lru_maintainer", Ignored::Value::kNone, kBags},
    {"hot_lru_pct", Ignored::Value::kNumber, kBags},
    {"warm_lru_pct", Ignored::Value::kNumber, kBags},
    {"hot_max_factor", Ignored::Value::kText, kBags},
    {"warm_max_factor", Ignored::Value::kText, kBags},
    {"temporary_ttl", Ignored::Value::kNumber, kBags},
    {"idle_timeout", Ignored::Value::kNumber, "idle clients cost little and are not disconnected"},
    {"read_buf_mem_limit", Ignored::Value::kNumber,
     "only clients with unfinished input hold buffers"},
    {"resp_obj_mem_limit", Ignored::Value::kNumber, "replies are not made of separate objects"},
    {"slab_chunk_max", Ignored::Value::kNumber, "the largest chunk is half a slab"},
    {"slab_reassign", Ignored::Value::kNone, kRebalancing},
    {"no_slab_reassign", Ignored::Value::kNone, kRebalancing},
    {"slab_automove", Ignored::Value::kOptional, kRebalancing},
    {"no_slab_automove", Ignored::Value::kNone, kRebalancing},
    {"slab_automove_ratio", Ignored::Value::kText, kRebalancing},
    {"slab_automove_window", Ignored::Value::kNumber, kRebalancing},
    {"slab_automove_freeratio", Ignored::Value::kText, kRebalancing},
    {"watcher_logbuf_size", Ignored::Value::kNumber, kNoWatchers},
    {"worker_logbuf_size", Ignored::Value::kNumber, kNoWatchers},
    {"track_sizes", Ignored::Value::kNone, "stats sizes needs no preparation"},
    {"inline_ascii_resp", Ignored::Value::kNone, "replies are built from the items themselves"},
    {"no_inline_ascii_resp", Ignored::Value::kNone, "replies are built from the items themselves"},
    {"no_chunked_items", Ignored::Value::kNone, "large items are always stored in chunks"},
    {"no_drop_privileges", Ignored::Value::kNone, "only -u changes privileges"},
    {"modern", Ignored::Value::kNone, kDefaults},
    {"no_modern", Ignored::Value::kNone, kDefaults},
};

using MaybeValue = std::optional<std::string_view>;

ExitReason refusal(std::string text) {
  return {EXIT_FAILURE, std::move(text)};
}

std::optional<ExitReason> apply(const Effective& option, MaybeValue value, Options* options) {
  if (option.value.empty()) {
    if (value) {
      return refusal(fmt::format("-o {} takes no value", option.name));
    }
    option.apply(*options, 0);
    return std::nullopt;
  }
  const auto number = parse_integer(value.value_or(""), option.min, option.max);
  if (!number) {
    return refusal(fmt::format("-o {}: must be a whole number from {} to {}, not \"{}\"",
                               option.name, option.min, option.max, value.value_or("")));
  }
  option.apply(*options, *number);
  return std::nullopt;
}

std::optional<ExitReason> apply(const Ignored& option, MaybeValue value, Options* options) {
  const std::string_view text = value.value_or("");
  const auto wanted = option.value;
  if (wanted == Ignored::Value::kNone && value) {
    return refusal(fmt::format("-o {} takes no value", option.name));
  }
  if ((wanted == Ignored::Value::kNumber && !parse_decimal(text)) ||
      (wanted == Ignored::Value::kText && text.empty())) {
    return refusal(fmt::format("-o {}: must be given a {}, not \"{}\"", option.name,
                               wanted == Ignored::Value::kNumber ? "number" : "value", text));
  }
  options->remarks.push_back(
      fmt::format("option -o {} has no effect: {}", option.name, option.reason));
  return std::nullopt;
}

std::optional<ExitReason> apply_one(std::string_view suboption, Options* options) {
  const size_t equals = suboption.find('=');
  const std::string_view name = suboption.substr(0, equals);
  const MaybeValue value =
      equals == std::string_view::npos ? std::nullopt : MaybeValue(suboption.substr(equals + 1));
  const auto is_named = [name](const auto& option) { return option.name == name; };
  if (const auto* found = std::find_if(std::begin(kEffective), std::end(kEffective), is_named);
      found != std::end(kEffective)) {
    return apply(*found, value, options);
  }
  if (const auto* found = std::find_if(std::begin(kIgnored), std::end(kIgnored), is_named);
      found != std::end(kIgnored)) {
    return apply(*found, value, options);
  }
  return refusal(fmt::format("Illegal suboption \"{}\"; -h lists those of -o", suboption));
}

}  // namespace

std::optional<ExitReason> apply_extended_options(std::string_view argument, Options* options) {
  while (true) {
    const size_t comma = argument.find(',');
    if (auto failure = apply_one(argument.substr(0, comma), options)) {
      return failure;
    }
    if (comma == std::string_view::npos) {
      return std::nullopt;
    }
    argument.remove_prefix(comma + 1);
  }
}

std::string extended_options_usage() {
  std::string text;
  for (const Effective& option : kEffective) {
    text += usage_entry(
        fmt::format("   - {}{}{}", option.name, option.value.empty() ? "" : "=", option.value),
        std::string(option.description));
  }
  std::string ignored = "taken and without effect here, of memcached's:";
  size_t width = 80;
  for (const Ignored& option : kIgnored) {
    width += option.name.size() + 2;
    const bool wraps = width > 56;
    ignored += fmt::format("{}{}{}", &option == std::begin(kIgnored) ? "" : ",", wraps ? "\n" : " ",
                           option.name);
    width = wraps ? option.name.size() + 1 : width;
  }
  return text + usage_entry("   -", ignored);
}

}  // namespace pmcached::server
