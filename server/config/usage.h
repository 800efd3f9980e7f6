#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace pmcached::server {

/// Prints the options as memcached's -h does: names on the left, sentences on the right, in groups.
/// What it prints comes from the declarations of the options, so that it cannot be out of date.
class UsageFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
};

/// Puts `names` into the left column and `description` beside it, line by line.
std::string usage_entry(const std::string& names, const std::string& description);

}  // namespace pmcached::server
