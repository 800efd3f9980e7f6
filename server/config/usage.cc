#include "server/config/usage.h"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "server/config/version.h"

namespace pmcached::server {
namespace {

constexpr size_t kNamesWidth = 32;

/// "-p, --port=<num>", "-D <char>", "-M, --disable-evictions".
std::string names_of(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) {
    names += fmt::format("{}-{}", names.empty() ? "" : ", ", name);
  }
  for (const std::string& name : option.get_lnames()) {
    names += fmt::format("{}--{}", names.empty() ? "" : ", ", name);
  }
  if (!option.get_type_name().empty()) {
    names += (option.get_lnames().empty() ? " " : "=") + option.get_type_name();
  }
  return names;
}

}  // namespace

std::string usage_entry(const std::string& names, const std::string& description) {
  std::string text = names;
  if (names.size() >= kNamesWidth) {
    text += '\n' + std::string(kNamesWidth, ' ');
  } else {
    text += std::string(kNamesWidth - names.size(), ' ');
  }
  for (const char c : description) {
    text += c;
    if (c == '\n') {
      text += std::string(kNamesWidth, ' ');
    }
  }
  return text + '\n';
}

std::string UsageFormatter::make_help(const CLI::App* app, std::string /*name*/,
                                      CLI::AppFormatMode mode) const {
  return fmt::format("pmcached {}\n\n{}{}", program_version(), make_groups(app, mode),
                     make_footer(app));
}

std::string UsageFormatter::make_group(std::string group, bool is_positional,
                                       std::vector<const CLI::Option*> options) const {
  std::string text = group + '\n';
  for (const CLI::Option* option : options) {
    text += make_option(option, is_positional);
  }
  return text;
}

std::string UsageFormatter::make_option(const CLI::Option* option, bool /*is_positional*/) const {
  return usage_entry(names_of(*option), option->get_description());
}

}  // namespace pmcached::server
