"""Options: what is taken, what is refused, and how memcached answers the same."""

import subprocess
import unittest

from harness import BINARY, IS_ROOT, MEMCACHED, ServerTest

# Options that memcached and pmcached both refuse, with the same exit code.
REFUSED_BY_BOTH = (
    ["-p", "99999"],
    ["-c", "0"],
    ["-t", "0"],
    ["-t", "abc"],
    ["-R", "0"],
    ["-f", "0.5"],
    ["-f", "1.0"],
    ["-n", "0"],
    ["-m", "0"],
    ["-I", "10"],
    ["-I", "1023"],
    ["-I", "1025m", "-m", "4000"],
    ["-I", "100m"],
    ["-B", "nonsense"],
    ["-o", "nonsense"],
    ["-o", "hashpower"],
    ["-o", "hashpower=5"],
    ["-o", "hashpower=99"],
    ["-o", "hot_lru_pct=abc"],
    ["-o", "idle_timeout"],
    ["-Q"],
    ["--nonsense"],
    ["-l"],
    ["-D"],
    ["-c", "1000000000"],
    ["-l", "192.0.2.1"],
    ["-l", "no-such-host.invalid"],
    ["-s", "/nonexistent/socket"],
)

# Options that only pmcached refuses: memcached takes them for something else, or has more.
REFUSED_HERE = (
    (["-p", "abc"], 64),
    (["-a", "999"], 64),
    (["-b", "abc"], 64),
    (["-m", "64x"], 64),
    (["-D", "ab"], 64),
    (["-U", "11211"], 64),
    (["-B", "binary"], 64),
    (["-p", "0"], 64),
    (["-l", "[::1"], 71),
    (["-S"], 64),
    (["-Z"], 64),
    (["surplus"], 1),
    (["-o", "recovery_threads=0"], 1),
    (["-e", "/nonexistent/pool"], 66),
    (["-e", "/dev/null"], None),
    (["-e", "/dev/shm"], None),
)


def run(binary, options, user=True):
    """Exit code, standard output and standard error of a server that should end by itself."""
    command = [binary, *(["-u", "root"] if IS_ROOT and user else []), *options]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            timeout=60, check=False)
    return result.returncode, result.stdout, result.stderr


class Refusals(ServerTest):
    def check_one_line(self, options, output, error):
        self.assertEqual(output, "", options)
        self.assertEqual(error.count("\n"), 1, f"{options}: {error}")

    def test_bad_values_end_with_one_line_and_the_exit_code_of_memcached(self):
        for options in REFUSED_BY_BOTH:
            with self.subTest(options=options):
                code, output, error = run(BINARY, options)
                self.check_one_line(options, output, error)
                if MEMCACHED:
                    self.assertEqual(code, run(MEMCACHED, options)[0], error)

    def test_what_only_pmcached_refuses_ends_with_one_line_too(self):
        for options, wanted in REFUSED_HERE:
            with self.subTest(options=options):
                code, output, error = run(BINARY, options)
                self.check_one_line(options, output, error)
                if wanted is None:
                    self.assertNotIn(code, (0, -11, -6))
                else:
                    self.assertEqual(code, wanted, error)

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_root_must_name_a_user_that_exists(self):
        self.assertEqual(run(BINARY, [], user=False),
                         (64, "", "can't run as root without the -u switch\n"))
        self.assertEqual(run(BINARY, ["-u", "nosuchuser"], user=False),
                         (67, "", "can't find the user nosuchuser to switch to\n"))


class Answers(ServerTest):
    def test_help_version_and_licence_go_to_standard_output(self):
        for option, part in (("-h", "-p, --port=<num>"), ("--help", "-o, --extended"),
                             ("-V", "pmcached 0."), ("--version", "pmcached 0."),
                             ("-i", "libevent"), ("--license", "BSD")):
            with self.subTest(option=option):
                code, output, error = run(BINARY, [option], user=False)
                self.assertEqual((code, error), (0, ""))
                self.assertIn(part, output)


class Effects(ServerTest):
    def settings(self, *options):
        with self.start(*options).connect() as client:
            return client.stats(b"settings")

    def test_stats_settings_shows_the_options(self):
        settings = self.settings("-m", "100", "-c", "77", "-f", "1.5", "-n", "96", "-t", "2", "-R",
                                 "5", "-b", "99", "-I", "2m", "-M", "-C", "-F", "-A", "-v", "-D",
                                 "/")
        for name, value in {"maxbytes": str(100 << 20), "maxconns": "77", "growth_factor": "1.50",
                            "chunk_size": "96", "num_threads": "2", "reqs_per_event": "5",
                            "tcp_backlog": "99", "item_size_max": str(2 << 20), "evictions": "off",
                            "cas_enabled": "no", "flush_enabled": "no", "shutdown_command": "yes",
                            "verbosity": "1", "stat_key_prefix": "/",
                            "detail_enabled": "yes"}.items():
            self.assertEqual(settings[name], value, name)

    def test_defaults_are_those_of_memcached(self):
        if not MEMCACHED:
            self.skipTest("memcached is not installed")
        ours = self.settings()
        with self.start(binary=MEMCACHED).connect() as client:
            theirs = client.stats(b"settings")
        for name in ("maxbytes", "maxconns", "udpport", "verbosity", "evictions", "growth_factor",
                     "chunk_size", "num_threads", "reqs_per_event", "cas_enabled", "tcp_backlog",
                     "item_size_max", "flush_enabled", "detail_enabled", "umask"):
            self.assertEqual(ours[name], theirs[name], name)

    def test_options_of_memcached_without_a_meaning_here_are_taken_with_a_remark_each(self):
        server = self.start("-o", "modern,no_lru_crawler,slab_automove=2", "-L", "-X", "-W", "-B",
                            "auto", "-U", "0")
        self.assertEqual(server.log().count("has no effect"), 4, server.log())

    def test_the_size_classes_of_a_pool_stay(self):
        self.start_on_pool("-f", "1.25").stop()
        server = self.start_on_pool("-f", "2")
        self.assertIn("size classes it was created with", server.log())


if __name__ == "__main__":
    unittest.main()
