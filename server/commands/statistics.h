#pragma once

#include "server/commands/command_scope.h"
#include "server/commands/stat_lines.h"
#include "server/protocol/text_request.h"

namespace pmcached::server {

/// stats and its subcommands.
void execute_stats(const StatsRequest& request, const CommandScope& scope);

// The replies by subcommand, without the END. Names and their order are memcached's; what is
// pmcached's own comes last.

/// `stats`: the process, its connections and its commands.
void add_general_stats(const CommandScope& scope, StatLines* lines);
/// `stats settings`.
void add_settings_stats(const CommandScope& scope, StatLines* lines);
/// `stats items`: by size class, those with items. Classes are numbered from 1.
void add_item_stats(const CommandScope& scope, StatLines* lines);
/// `stats slabs`: by size class, those with slabs. Classes are numbered from 1.
void add_slab_stats(const CommandScope& scope, StatLines* lines);

}  // namespace pmcached::server
