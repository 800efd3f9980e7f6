#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "server/config/command_line.h"

namespace pmcached::server {
namespace {

using Words = std::vector<const char*>;

std::variant<Options, ExitReason> parse(Words words) {
  words.insert(words.begin(), "pmcached");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

Options accepted(const Words& words) {
  auto parsed = parse(words);
  if (const auto* reason = std::get_if<ExitReason>(&parsed)) {
    FAIL(reason->text);
  }
  return std::get<Options>(parsed);
}

ExitReason refused(const Words& words) {
  auto parsed = parse(words);
  REQUIRE(std::holds_alternative<ExitReason>(parsed));
  return std::get<ExitReason>(parsed);
}

TEST_CASE("without options everything is as memcached has it") {
  const Options options = accepted({});
  CHECK(options.tcp_port == 11211);
  CHECK(options.listen_on.empty());
  CHECK(options.unix_socket.empty());
  CHECK(options.max_connections == 1024);
  CHECK(options.listen_backlog == 1024);
  CHECK(options.reject_at_limit);
  CHECK_FALSE(options.memory_bytes);
  CHECK(options.growth_factor == 1.25);
  CHECK(options.min_space == 48);
  CHECK(options.item_size_max == 1 << 20);
  CHECK(options.evictions);
  CHECK(options.threads == 4);
  CHECK(options.requests_per_event == 20);
  CHECK(options.cas_enabled);
  CHECK(options.flush_enabled);
  CHECK_FALSE(options.shutdown_command);
  CHECK_FALSE(options.detail_enabled);
  CHECK_FALSE(options.daemon);
  CHECK(options.verbosity == 0);
  CHECK(options.remarks.empty());
}

TEST_CASE("short and long forms of an option mean the same") {
  const Words words =
      GENERATE(Words{"-p", "11300", "-c", "10", "-t", "2",  "-R", "7",   "-b", "9",  "-m", "128",
                     "-f", "1.5",   "-n", "64", "-I", "2m", "-a", "755", "-e", "/p", "-u", "who",
                     "-P", "/pid",  "-M", "-C", "-F", "-A", "-d", "-r",  "-k", "-v"},
               Words{"--port=11300",
                     "--conn-limit=10",
                     "--threads=2",
                     "--max-reqs-per-event=7",
                     "--listen-backlog=9",
                     "--memory-limit=128",
                     "--slab-growth-factor=1.5",
                     "--slab-min-size=64",
                     "--max-item-size=2m",
                     "--unix-mask=755",
                     "--memory-file=/p",
                     "--user=who",
                     "--pidfile=/pid",
                     "--disable-evictions",
                     "--disable-cas",
                     "--disable-flush-all",
                     "--enable-shutdown",
                     "--daemon",
                     "--enable-coredumps",
                     "--lock-memory",
                     "--verbose"},
               Words{"-p11300", "-c10", "-t2", "-R7", "-b9", "-m128", "-f1.5", "-n64", "-I2m",
                     "-a755", "-e/p", "-uwho", "-P/pid", "-MCFAdrkv"});
  const Options options = accepted(words);
  CHECK(options.tcp_port == 11300);
  CHECK(options.max_connections == 10);
  CHECK(options.threads == 2);
  CHECK(options.requests_per_event == 7);
  CHECK(options.listen_backlog == 9);
  CHECK(options.memory_bytes == uint64_t{128} << 20);
  CHECK(options.growth_factor == 1.5);
  CHECK(options.min_space == 64);
  CHECK(options.item_size_max == 2 << 20);
  CHECK(options.unix_socket_mode == 0755);
  CHECK(options.memory_file == "/p");
  CHECK(options.user == "who");
  CHECK(options.pid_file == "/pid");
  CHECK_FALSE(options.evictions);
  CHECK_FALSE(options.cas_enabled);
  CHECK_FALSE(options.flush_enabled);
  CHECK(options.shutdown_command);
  CHECK(options.daemon);
  CHECK(options.core_dumps);
  CHECK(options.lock_memory);
  CHECK(options.verbosity == 1);
}

TEST_CASE("an option given twice counts as given last, but -l adds up") {
  CHECK(accepted({"-p", "1", "-p", "2"}).tcp_port == 2);
  CHECK(accepted({"-l", "127.0.0.1,[::1]:5", "-l", "localhost"}).listen_on ==
        std::vector<std::string>{"127.0.0.1", "[::1]:5", "localhost"});
}

TEST_CASE("the port -1 asks for a free port") {
  CHECK(accepted({"-p", "-1"}).tcp_port == -1);
}

TEST_CASE("option -D sets the delimiter and switches the statistics on") {
  const Options options = accepted({"-D", "/"});
  CHECK(options.prefix_delimiter == '/');
  CHECK(options.detail_enabled);
}

TEST_CASE("option -v adds up to a limit") {
  CHECK(accepted({"-vv"}).verbosity == 2);
  CHECK(accepted({"-vvv"}).verbosity == 2);
}

TEST_CASE("the environment names the port file") {
  setenv("MEMCACHED_PORT_FILENAME", "/run/ports", 1);
  CHECK(accepted({}).port_file == "/run/ports");
  unsetenv("MEMCACHED_PORT_FILENAME");
  CHECK(accepted({}).port_file.empty());
}

TEST_CASE("a bad value is refused in one line that names option and value") {
  struct Case {
    Words words;
    int code;
    std::vector<std::string> names;
  };
  const std::vector<Case> cases = {
      {{"-p", "abc"}, EX_USAGE, {"--port", "\"abc\""}},
      {{"-p", "65536"}, EX_USAGE, {"--port", "65535"}},
      {{"-U", "11211"}, EX_USAGE, {"UDP"}},
      {{"-s", ""}, EX_USAGE, {"--unix-socket"}},
      {{"-a", "8"}, EX_USAGE, {"--unix-mask", "octal"}},
      {{"-l", ","}, EX_USAGE, {"--listen"}},
      {{"-c", "0"}, EXIT_FAILURE, {"--conn-limit"}},
      {{"-t", "0"}, EXIT_FAILURE, {"--threads"}},
      {{"-t", "4x"}, EXIT_FAILURE, {"--threads", "\"4x\""}},
      {{"-R", "-5"}, EXIT_FAILURE, {"--max-reqs-per-event"}},
      {{"-f", "1.0"}, EXIT_FAILURE, {"--slab-growth-factor"}},
      {{"-n", "0"}, EXIT_FAILURE, {"--slab-min-size"}},
      {{"-m", "0"}, EX_USAGE, {"--memory-limit"}},
      {{"-I", "1023"}, EX_USAGE, {"--max-item-size", "1k"}},
      {{"-I", "1025m"}, EX_USAGE, {"--max-item-size", "1024m"}},
      {{"-I", "33m"}, EX_USAGE, {"half of the memory", "64 MiB"}},
      {{"-B", "binary"}, EX_USAGE, {"binary"}},
      {{"-B", "foo"}, EX_USAGE, {"\"foo\""}},
      {{"-D", "ab"}, EX_USAGE, {"single character"}},
      {{"-p", "0"}, EX_USAGE, {"nothing to listen on"}},
      {{"-Z"}, EX_USAGE, {"TLS"}},
      {{"-S"}, EX_USAGE, {"SASL"}},
      {{"-Q"}, EXIT_FAILURE, {"\"-Q\""}},
      {{"--nonsense=1"}, EXIT_FAILURE, {"\"--nonsense=1\""}},
      {{"word"}, EXIT_FAILURE, {"\"word\""}},
      {{"-p"}, EXIT_FAILURE, {"--port"}},
      {{"-o", "nonsense"}, EXIT_FAILURE, {"\"nonsense\""}},
  };
  for (const Case& bad : cases) {
    const ExitReason reason = refused(bad.words);
    CAPTURE(reason.text);
    CHECK(reason.code == bad.code);
    CHECK(reason.text.find('\n') == std::string::npos);
    for (const std::string& name : bad.names) {
      CHECK_THAT(reason.text, Catch::Contains(name));
    }
  }
}

TEST_CASE("the item limit is not compared with the size of a pool that is not known yet") {
  CHECK(accepted({"-e", "/pool", "-I", "128m"}).item_size_max == 128 << 20);
  CHECK(refused({"-e", "/pool", "-m", "64", "-I", "128m"}).code == EX_USAGE);
}

TEST_CASE("options -h, -V and -i answer and end") {
  const ExitReason help = refused({"-h"});
  CHECK(help.code == EX_OK);
  for (const char* name : {"-p, --port=<num>", "-M, --disable-evictions ", "-D <char>",
                           "-o, --extended=<list>", "- recovery_threads=<num>"}) {
    CHECK_THAT(help.text, Catch::Contains(name));
  }
  CHECK_THAT(refused({"-V"}).text, Catch::StartsWith("pmcached 0."));
  CHECK_THAT(refused({"-i"}).text, Catch::Contains("libevent"));
}

TEST_CASE("extended options take effect") {
  const Options options = accepted(
      {"-o", "no_maxconns_fast,hashpower=20", "-o", "recovery_threads=3,salvage_after_power_loss"});
  CHECK_FALSE(options.reject_at_limit);
  CHECK(options.initial_hash_power == 20);
  CHECK(options.recovery_threads == 3);
  CHECK(options.salvage_after_power_loss);
  CHECK(options.remarks.empty());
}

TEST_CASE("extended options of memcached without a meaning here leave a remark each") {
  const Options options = accepted({"-o", "modern,hot_lru_pct=10,slab_automove,slab_automove=1"});
  REQUIRE(options.remarks.size() == 4);
  CHECK_THAT(options.remarks[1], Catch::Contains("hot_lru_pct"));
}

TEST_CASE("bad values of extended options are refused as memcached does") {
  for (const char* argument :
       {"hashpower", "hashpower=5", "hashpower=99", "recovery_threads=0", "maxconns_fast=1",
        "hot_lru_pct=abc", "idle_timeout", "modern=1", "hash_algorithm", "modern,", ""}) {
    CAPTURE(argument);
    const ExitReason reason = refused({"-o", argument});
    CHECK(reason.code == EXIT_FAILURE);
    CHECK(reason.text.find('\n') == std::string::npos);
  }
}

}  // namespace
}  // namespace pmcached::server
