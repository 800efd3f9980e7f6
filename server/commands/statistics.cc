#include "server/commands/statistics.h"

#include "server/protocol/text_reply.h"

namespace pmcached::server {
namespace {

void reset(const CommandScope& scope) {
  scope.cache().reset_stats();
  scope.server.reset_connection_counters();
  scope.server.prefix_statistics.clear();
  scope.reply(kResetReply);
}

void detail(std::string_view argument, const CommandScope& scope) {
  PrefixStatistics& statistics = scope.server.prefix_statistics;
  if (argument == "dump") {
    scope.reply(statistics.dump());
  } else if (argument == "on" || argument == "off") {
    statistics.enable(argument == "on");
    scope.reply(kOkReply);
  } else {
    scope.reply(kDetailUsageReply);
  }
}

void add_size_stats(const CommandScope& scope, StatLines* lines) {
  for (const auto& [size, count] : scope.cache().item_sizes(scope.session)) {
    lines->add(fmt::to_string(size), count);
  }
}

void add_connection_stats(const CommandScope& scope, StatLines* lines) {
  scope.server.visit_connections([lines](const ConnectionInfo& connection) {
    const auto fd = static_cast<uint64_t>(connection.fd);
    lines->add_of("", fd, "addr", connection.address);
    if (!connection.listen_address.empty()) {
      lines->add_of("", fd, "listen_addr", connection.listen_address);
    }
    lines->add_of("", fd, "state", connection.state);
    lines->add_of("", fd, "secs_since_last_cmd", connection.seconds_since_last_command);
  });
}

struct Subcommand {
  std::string_view name;
  void (*add)(const CommandScope&, StatLines*);
};

constexpr Subcommand kSubcommands[] = {
    {"", add_general_stats},   {"settings", add_settings_stats}, {"items", add_item_stats},
    {"slabs", add_slab_stats}, {"sizes", add_size_stats},        {"conns", add_connection_stats},
};

}  // namespace

void execute_stats(const StatsRequest& request, const CommandScope& scope) {
  if (request.subcommand == "reset") {
    return reset(scope);
  }
  if (request.subcommand == "detail") {
    return detail(request.argument, scope);
  }
  if (request.subcommand == "cachedump") {
    // As memcached answers with dumps disabled: here they always are.
    return scope.reply(kNoDumpReply);
  }
  for (const Subcommand& subcommand : kSubcommands) {
    if (subcommand.name == request.subcommand) {
      StatLines lines(scope.replies);
      subcommand.add(scope, &lines);
      lines.end();
      return;
    }
  }
  scope.reply(kErrorReply);
}

}  // namespace pmcached::server
