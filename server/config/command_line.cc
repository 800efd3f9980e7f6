#include "server/config/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "server/config/extended_options.h"
#include "server/config/number.h"
#include "server/config/usage.h"
#include "server/config/version.h"

namespace pmcached::server {
namespace {

constexpr int64_t kMaxMegabytes = int64_t{1} << 26;  // what 40-bit slot references reach
constexpr uint64_t kMinItemSizeMax = uint64_t{1} << 10;
constexpr uint64_t kMaxItemSizeMax = uint64_t{1} << 30;
constexpr int64_t kMaxMinSpace = int64_t{256} << 10;
constexpr int kMaxVerbosity = 2;

/// Ends the parsing with one line for the operator and the exit code that memcached has for it.
[[noreturn]] void refuse(int exit_code, std::string text) {
  throw CLI::ParseError(std::move(text), exit_code);
}

using TextSetter = std::function<void(const std::string&)>;

/// Declares an option with a value. Given more than once, the last one counts.
void add_text(CLI::App& app, const std::string& names, const std::string& placeholder,
              const TextSetter& set, const std::string& description) {
  app.add_option_function<std::string>(names, set, description)
      ->type_name(placeholder)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

/// What a whole number has to be, and the exit code if it is not.
struct Bounds {
  int64_t min;
  int64_t max;
  int exit_code;
};

void add_integer(CLI::App& app, const std::string& names, Bounds bounds,
                 std::function<void(int64_t)> set, const std::string& description) {
  add_text(
      app, names, "<num>",
      [names, bounds, set = std::move(set)](const std::string& text) {
        const auto number = parse_integer(text, bounds.min, bounds.max);
        if (!number) {
          refuse(bounds.exit_code,
                 fmt::format("{}: must be a whole number from {} to {}, not \"{}\"", names,
                             bounds.min, bounds.max, text));
        }
        set(*number);
      },
      description);
}

/// A path or name, which must not be empty.
void add_name(CLI::App& app, const std::string& names, const std::string& placeholder,
              std::string* target, const std::string& description) {
  add_text(
      app, names, placeholder,
      [names, target](const std::string& text) {
        if (text.empty()) {
          refuse(EX_USAGE, fmt::format("{}: must not be empty", names));
        }
        *target = text;
      },
      description);
}

void add_switch(CLI::App& app, const std::string& names, std::function<void()> set,
                const std::string& description) {
  app.add_flag_callback(names, std::move(set), description);
}

/// Appends the entries of one -l, which commas, semicolons or spaces separate.
void add_listen_entries(const std::string& text, std::vector<std::string>* entries) {
  const size_t before = entries->size();
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find_first_of(",; ", begin), text.size());
    if (end > begin) {
      entries->push_back(text.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  if (entries->size() == before) {
    refuse(EX_USAGE, "-l,--listen: must name an address");
  }
}

void add_network_options(CLI::App& app, Options* options) {
  add_integer(
      app, "-p,--port", {-1, 65535, EX_USAGE},
      [options](int64_t value) { options->tcp_port = static_cast<int>(value); },
      "TCP port to listen on (default: 11211; -1: one that is free)");
  add_integer(
      app, "-U,--udp-port", {0, 65535, EX_USAGE},
      [](int64_t value) {
        if (value != 0) {
          refuse(EX_USAGE, "-U,--udp-port: UDP is not supported; leave the option out or give 0");
        }
      },
      "UDP port; only 0, off, is supported");
  add_name(app, "-s,--unix-socket", "<file>", &options->unix_socket,
           "UNIX socket to listen on (disables network support)");
  add_text(
      app, "-a,--unix-mask", "<mask>",
      [options](const std::string& text) {
        const auto mode = parse_file_mode(text);
        if (!mode) {
          refuse(EX_USAGE,
                 fmt::format("-a,--unix-mask: must be octal, 0 to 777, not \"{}\"", text));
        }
        options->unix_socket_mode = *mode;
      },
      "access mask for UNIX socket, in octal (default: 700)");
  app.add_option_function<std::vector<std::string>>(
         "-l,--listen",
         [options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             add_listen_entries(text, &options->listen_on);
           }
         },
         "address to listen on, with or without :port; several\n"
         "separated by commas, or the option several times\n"
         "(default: all addresses)")
      ->type_name("<addr>")
      ->allow_extra_args(false);
  add_integer(
      app, "-c,--conn-limit", {1, 1 << 30, EXIT_FAILURE},
      [options](int64_t value) { options->max_connections = static_cast<uint32_t>(value); },
      "max simultaneous connections (default: 1024)");
  add_integer(
      app, "-b,--listen-backlog", {0, 1 << 30, EX_USAGE},
      [options](int64_t value) { options->listen_backlog = static_cast<int>(value); },
      "set the backlog queue limit (default: 1024)");
}

void add_process_options(CLI::App& app, Options* options) {
  add_switch(
      app, "-d,--daemon", [options] { options->daemon = true; },
      "run as a daemon; returns once clients can connect");
  add_name(app, "-P,--pidfile", "<file>", &options->pid_file, "save PID in <file>");
  add_name(app, "-u,--user", "<user>", &options->user,
           "assume identity of <user> (only when run as root)");
  add_switch(
      app, "-r,--enable-coredumps", [options] { options->core_dumps = true; },
      "maximize core file limit");
  add_switch(
      app, "-k,--lock-memory", [options] { options->lock_memory = true; },
      "lock down all paged memory");
}

void add_memory_options(CLI::App& app, Options* options) {
  add_integer(
      app, "-m,--memory-limit", {1, kMaxMegabytes, EX_USAGE},
      [options](int64_t value) { options->memory_bytes = static_cast<uint64_t>(value) << 20; },
      "item memory in megabytes (default: 64, or what the pool of\n-e has; a larger value grows "
      "it)");
  add_name(app, "-e,--memory-file", "<file>", &options->memory_file,
           "pool file that the items live in: created if it is not\n"
           "there, else the cache comes back with its items, also\n"
           "after kill -9; best on persistent memory (fsdax)");
  add_switch(
      app, "-M,--disable-evictions", [options] { options->evictions = false; },
      "return error on memory exhausted instead of evicting");
  add_text(
      app, "-f,--slab-growth-factor", "<num>",
      [options](const std::string& text) {
        const auto factor = parse_decimal(text);
        if (!factor || *factor <= 1.0) {
          refuse(EXIT_FAILURE,
                 fmt::format("-f,--slab-growth-factor: must be greater than 1, not \"{}\"", text));
        }
        options->growth_factor = *factor;
      },
      "chunk size growth factor of a new pool (default: 1.25)");
  add_integer(
      app, "-n,--slab-min-size", {1, kMaxMinSpace, EXIT_FAILURE},
      [options](int64_t value) { options->min_space = static_cast<uint32_t>(value); },
      "min space used for key+value of a new pool (default: 48)");
  add_text(
      app, "-I,--max-item-size", "<num>",
      [options](const std::string& text) {
        const auto size = parse_size(text);
        if (!size || *size < kMinItemSizeMax || *size > kMaxItemSizeMax) {
          refuse(EX_USAGE,
                 fmt::format("-I,--max-item-size: must be from 1k to 1024m, not \"{}\"", text));
        }
        options->item_size_max = *size;
      },
      "adjusts max item size (default: 1m, min: 1k, max: 1024m)");
  add_switch(
      app, "-L,--enable-largepages",
      [options] {
        options->remarks.emplace_back(
            "option -L has no effect: huge pages are left to the kernel and to the pool's "
            "file system");
      },
      "taken, and left to the kernel");
}

void add_protocol_options(CLI::App& app, Options* options) {
  add_integer(
      app, "-t,--threads", {1, 1024, EXIT_FAILURE},
      [options](int64_t value) { options->threads = static_cast<uint32_t>(value); },
      "number of threads to use (default: 4)");
  add_integer(
      app, "-R,--max-reqs-per-event", {1, 1 << 30, EXIT_FAILURE},
      [options](int64_t value) { options->requests_per_event = static_cast<int>(value); },
      "maximum number of requests per event, limits the\n"
      "requests processed per connection to prevent\n"
      "starvation (default: 20)");
  add_text(
      app, "-B,--protocol", "<name>",
      [](const std::string& text) {
        if (text == "binary") {
          refuse(EX_USAGE,
                 "-B,--protocol: the binary protocol is not supported; use ascii or auto");
        }
        if (text != "auto" && text != "ascii") {
          refuse(EX_USAGE, fmt::format("-B,--protocol: must be auto or ascii, not \"{}\"", text));
        }
      },
      "protocol - one of ascii or auto (default: auto)");
  add_switch(
      app, "-C,--disable-cas", [options] { options->cas_enabled = false; }, "disable use of CAS");
  add_switch(
      app, "-A,--enable-shutdown", [options] { options->shutdown_command = true; },
      "enable the \"shutdown\" command");
  add_switch(
      app, "-F,--disable-flush-all", [options] { options->flush_enabled = false; },
      "disable flush_all command");
  add_switch(
      app, "-X,--disable-dumping", [] {}, "taken; there is nothing that dumps keys");
  add_switch(
      app, "-W,--disable-watch", [] {}, "taken; there are no watch commands");
  add_text(
      app, "-D", "<char>",
      [options](const std::string& text) {
        if (text.size() != 1) {
          refuse(EX_USAGE, fmt::format("-D: must be a single character, not \"{}\"", text));
        }
        options->prefix_delimiter = text.front();
        options->detail_enabled = true;
      },
      "Use <char> as the delimiter between key prefixes and IDs\n"
      "in \"stats detail\", and switch it on (default: \":\", off)");
}

void add_extended_options(CLI::App& app, Options* options) {
  app.add_option_function<std::vector<std::string>>(
         "-o,--extended",
         [options](const std::vector<std::string>& arguments) {
           for (const std::string& argument : arguments) {
             if (const auto failure = apply_extended_options(argument, options)) {
               refuse(failure->code, failure->text);
             }
           }
         },
         "comma separated list of extended options:")
      ->type_name("<list>")
      ->allow_extra_args(false);
}

/// Says what is wrong with an argument that is none of ours.
[[noreturn]] void refuse_argument(const std::string& argument) {
  struct Unsupported {
    std::string_view names[2];
    std::string_view what;
  };
  static constexpr Unsupported kUnsupported[] = {
      {{"-S", "--enable-sasl"}, "SASL authentication"},
      {{"-Y", "--auth-file"}, "authentication by a file"},
      {{"-Z", "--enable-ssl"}, "TLS"},
      {{"-N", "--napi_ids"}, "the choice of workers by NAPI ID"},
  };
  for (const Unsupported& option : kUnsupported) {
    if (argument.starts_with(option.names[0]) || argument.starts_with(option.names[1])) {
      refuse(EX_USAGE, fmt::format("{}: {} is not supported", argument, option.what));
    }
  }
  refuse(
      EXIT_FAILURE,
      fmt::format("{} \"{}\"; -h lists the options",
                  argument.starts_with('-') ? "unknown option" : "unexpected argument", argument));
}

/// Checks that only make sense once all options are known.
void check_together(const Options& options) {
  if (options.tcp_port == 0 && options.unix_socket.empty()) {
    refuse(EX_USAGE, "nothing to listen on: -p 0 switches TCP off, and -s names no UNIX socket");
  }
  const bool takes_size_of_pool = !options.memory_file.empty() && !options.memory_bytes;
  const uint64_t memory = options.memory_bytes.value_or(kDefaultMemoryBytes);
  if (!takes_size_of_pool && options.item_size_max > memory / 2) {
    refuse(EX_USAGE, fmt::format("-I,--max-item-size: must be at most half of the memory (-m), "
                                 "which is {} MiB",
                                 memory >> 20));
  }
}

}  // namespace

std::variant<Options, ExitReason> parse_command_line(int argc, const char* const* argv) {
  Options options;
  bool wants_license = false;
  CLI::App app("", "pmcached");
  app.formatter(std::make_shared<UsageFormatter>());
  app.set_help_flag();
  app.allow_extras();
  app.option_defaults()->group("Network");
  add_network_options(app, &options);
  app.option_defaults()->group("Memory");
  add_memory_options(app, &options);
  app.option_defaults()->group("Commands");
  add_protocol_options(app, &options);
  app.option_defaults()->group("Process");
  add_process_options(app, &options);
  app.add_flag("-v,--verbose", options.verbosity,
               "verbose (print why clients were refused or lost);\n"
               "-vv also prints each connection");
  app.set_help_flag("-h,--help", "print this help and exit");
  app.add_flag("-i,--license", wants_license, "print the libraries' licenses and exit");
  app.set_version_flag("-V,--version", fmt::format("pmcached {}", program_version()),
                       "print version and exit");
  app.option_defaults()->group("Extended");
  add_extended_options(app, &options);
  app.footer(extended_options_usage());

  try {
    app.parse(argc, argv);
    if (!wants_license) {
      if (const auto extras = app.remaining(); !extras.empty()) {
        refuse_argument(extras.front());
      }
      check_together(options);
    }
  } catch (const CLI::CallForHelp&) {
    return ExitReason{EX_OK, app.help()};
  } catch (const CLI::CallForVersion& version) {
    return ExitReason{EX_OK, std::string(version.what()) + '\n'};
  } catch (const CLI::ParseError& error) {
    // CLI11's own codes start at 100; memcached leaves with 1 where getopt is the one to complain.
    const bool is_own =
        error.get_exit_code() < static_cast<int>(CLI::ExitCodes::IncorrectConstruction);
    return ExitReason{is_own ? error.get_exit_code() : EXIT_FAILURE, error.what()};
  }
  if (wants_license) {
    return ExitReason{EX_OK, std::string(license_text())};
  }
  options.verbosity = std::min(options.verbosity, kMaxVerbosity);
  if (const char* const path = std::getenv("MEMCACHED_PORT_FILENAME"); path != nullptr) {
    options.port_file = path;
  }
  return options;
}

}  // namespace pmcached::server
