#!/usr/bin/env python3
"""Kills a server again and again in the middle of concurrent writes and checks what it kept.

Each round: clients write a mix of every command over keys of their own, the server is killed after
a random number of acknowledged operations, started again within the same second, and every client
compares every key with what it must hold. State carries over from round to round. Exit code 0: no
violation; 1: violations, printed, with pool and log kept; 2: the run itself failed.
"""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from key_model import Violation
from loop_client import ClientProcess, Findings
from self_test import run_self_test
from support.report import ProgressBar, format_table
from support.server_process import (
    DEFAULT_BINARY,
    ServerFailed,
    ServerProcess,
    pool_file,
)

LEAST_OPERATIONS, MOST_OPERATIONS = 100, 10000
TRAFFIC_TIMEOUT_SECONDS = 120.0
POLL_SECONDS = 0.0005
FLUSH_DELAY_SECONDS = 1
# The server's clock ticks once a second: two ticks and some load after the delay it is over.
FLUSH_SLACK_SECONDS = 2.5
LONGEST_RECOVERY_BEFORE_KILL = 0.03

# What is special about a round, by its place in a cycle of 40; the others are plain.
PLAIN, FLUSHED, FLUSHED_TO_DEATH, FLUSH_IN_FLIGHT, FLUSH_DELAYED, KILLED_IN_RECOVERY = range(6)
SPECIAL_ROUNDS = {
    2: FLUSHED, 5: FLUSH_IN_FLIGHT, 7: KILLED_IN_RECOVERY, 13: FLUSHED_TO_DEATH,
    17: KILLED_IN_RECOVERY, 21: FLUSHED, 25: FLUSH_IN_FLIGHT, 27: KILLED_IN_RECOVERY,
    31: FLUSH_DELAYED, 37: KILLED_IN_RECOVERY,
}  # fmt: skip
SIGNAL_WEIGHTS = {"KILL": 80, "TERM": 7, "INT": 7, "USR1": 6}


class KillLoop:
    """The parent: owns the server, the clients and the totals over all rounds."""

    def __init__(self, options: argparse.Namespace, server: ServerProcess) -> None:
        self.server = server
        self.chooser = random.Random(options.seed)
        self.totals = Findings()
        self.stops: Counter[str] = Counter()
        self._signals: list[str] = options.signals.split(",")
        self._hardest_signal = "KILL" if "KILL" in self._signals else self._signals[0]
        self._restart_delay = options.restart_delay
        context = multiprocessing.get_context("fork")
        self._acknowledged = context.RawArray(ctypes.c_uint64, options.clients)
        self.clients = [
            ClientProcess(number, options.seed, server.port, self._acknowledged)
            for number in range(options.clients)
        ]

    def run_round(self, number: int) -> list[Violation]:
        special = SPECIAL_ROUNDS.get(number % 40, PLAIN)
        if special in (FLUSHED, FLUSHED_TO_DEATH):
            self._flush()
        if special == FLUSH_IN_FLIGHT:
            self._flush_and_kill()
        elif special == FLUSHED_TO_DEATH:
            self.stop_server(self._hardest_signal)
        elif special == FLUSH_DELAYED:
            return self._flush_delayed()
        else:
            self.write_and_stop()
        if special == KILLED_IN_RECOVERY:
            self._kill_in_recovery()
        self.server.start()
        return self.verify()

    def write_and_stop(self) -> None:
        """Lets the clients write a random number of operations, then stops the server."""
        begun = sum(self._acknowledged)
        goal = begun + self.chooser.randint(LEAST_OPERATIONS, MOST_OPERATIONS)
        deadline = time.monotonic() + TRAFFIC_TIMEOUT_SECONDS
        for client in self.clients:
            client.begin("run_traffic")
        while sum(self._acknowledged) < goal:
            if any(client.is_finished() for client in self.clients):
                break
            if time.monotonic() > deadline:
                text = f"took no {goal - begun} operations in {TRAFFIC_TIMEOUT_SECONDS} s"
                raise ServerFailed(self.server.describe_failure(text))
            time.sleep(POLL_SECONDS)
        evictions = self._count_evictions()
        self.stop_server(self._choose_signal())
        self._collect([client.finish() for client in self.clients])
        if evictions:
            raise ServerFailed(f"{evictions} evictions: the pool is too small for this test")

    def stop_server(self, name: str) -> None:
        self.stops[f"SIG{name}"] += 1
        code = self.server.stop(signal.Signals[f"SIG{name}"])
        time.sleep(self._restart_delay)
        expected = -signal.SIGKILL if name == "KILL" else 0
        if code != expected:
            text = f"the server ended with {code}, not {expected}, on SIG{name}"
            self.totals.violations.append(Violation("stop", b"-", text))

    def verify(self) -> list[Violation]:
        """Lets every client check its keys; returns the violations found since the last call."""
        for client in self.clients:
            client.begin("verify")
        findings = [client.finish() for client in self.clients]
        self._collect(findings)
        found = sum(finding.lasting_found for finding in findings)
        missing = sum(finding.lasting_missing for finding in findings)
        if found and missing:
            text = f"a flush_all in flight removed {missing} items and left {found}"
            self.totals.violations.append(Violation("flush", b"-", text))
        violations, self.totals.violations = self.totals.violations, []
        return violations

    def close(self) -> None:
        for client in self.clients:
            client.close()
        self.server.ensure_stopped()

    def _choose_signal(self) -> str:
        weights = [SIGNAL_WEIGHTS[name] for name in self._signals]
        return self.chooser.choices(self._signals, weights)[0]

    def _flush(self) -> None:
        with self.server.connect() as connection:
            self._expect_ok(connection.command(b"flush_all"))
        self._tell_flush(is_acknowledged=True)

    def _flush_and_kill(self) -> None:
        with self.server.connect() as connection:
            connection.send(b"flush_all\r\n")
            time.sleep(self.chooser.uniform(0, 0.0005))
            self.stop_server(self._hardest_signal)
        self._tell_flush(is_acknowledged=False)

    def _flush_delayed(self) -> list[Violation]:
        with self.server.connect() as connection:
            self._expect_ok(connection.command(b"flush_all %d" % FLUSH_DELAY_SECONDS))
        due = time.monotonic() + FLUSH_DELAY_SECONDS + FLUSH_SLACK_SECONDS
        self.stop_server(self._hardest_signal)
        self.server.start()
        time.sleep(max(0.0, due - time.monotonic()))
        self._tell_flush(is_acknowledged=True)
        return self.verify()

    def _tell_flush(self, is_acknowledged: bool) -> None:
        self.totals.acknowledged["flush_all"] += is_acknowledged
        self.totals.in_flight["flush_all"] += not is_acknowledged
        for client in self.clients:
            client.call("flush", is_acknowledged)

    def _expect_ok(self, reply: bytes) -> None:
        if reply != b"OK":
            self.totals.violations.append(Violation("reply", b"-", f"flush_all got {reply!r}"))

    def _kill_in_recovery(self) -> None:
        for _ in range(self.chooser.randint(1, 3)):
            self.server.launch()
            time.sleep(self.chooser.uniform(0, LONGEST_RECOVERY_BEFORE_KILL))
            self.stop_server(self._hardest_signal)

    def _count_evictions(self) -> int:
        with self.server.connect() as connection:
            return int(connection.stats()["evictions"])

    def _collect(self, findings: list[Findings]) -> None:
        for finding in findings:
            self.totals.acknowledged += finding.acknowledged
            self.totals.in_flight += finding.in_flight
            self.totals.items += finding.items
            self.totals.missing += finding.missing
            self.totals.violations += finding.violations


def run_rounds(loop: KillLoop, rounds: int) -> list[Violation]:
    bar = ProgressBar("rounds", rounds)
    for number in range(rounds):
        violations = loop.run_round(number)
        if violations:
            print(f"\nround {number}:", *violations[:20], sep="\n  ")
            return violations
        bar.advance()
    return []


def print_totals(loop: KillLoop, seconds: float) -> None:
    totals = loop.totals
    rows = [
        [verb, str(totals.acknowledged[verb]), str(totals.in_flight[verb])]
        for verb in sorted(totals.acknowledged | totals.in_flight)
    ]
    rows.append(["all", str(totals.acknowledged.total()), str(totals.in_flight.total())])
    stops = ", ".join(f"{count} {name}" for name, count in sorted(loop.stops.items()))
    print(format_table(["operation", "acknowledged", "in flight at a stop"], rows))
    print(f"stops: {stops}; keys verified: {totals.items} with a value, {totals.missing} without")
    print(f"{seconds:.0f} s")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--binary", type=Path, default=DEFAULT_BINARY)
    parser.add_argument("--pool-dir", type=Path, default=Path("/dev/shm"))
    parser.add_argument("--pool-mib", type=int, default=128)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--signals", default="KILL,TERM,INT,USR1", help="ways to stop the server")
    parser.add_argument(
        "--restart-delay",
        type=float,
        default=0.0,
        help="seconds between stop and start; memcached takes its file back only after a second",
    )
    parser.add_argument(
        "--self-test", action="store_true", help="inject faults and expect each to be caught"
    )
    return parser.parse_args()


def run(options: argparse.Namespace, folder: Path) -> int:
    with pool_file(options.pool_dir, "kill-loop") as pool:
        server = ServerProcess(
            options.binary, options.pool_mib, folder / "server.log", pool, ["-I", "4m"]
        )
        loop = KillLoop(options, server)
        begun = time.monotonic()
        try:
            server.start()
            if options.self_test:
                return run_self_test(loop)
            violations = run_rounds(loop, options.rounds)
        finally:
            loop.close()
        print_totals(loop, time.monotonic() - begun)
        print(f"{len(violations)} violations")
        if violations:
            shutil.move(pool, folder / "violated.pool")
            print(f"the pool and the log are kept in {folder}")
        return 1 if violations else 0


def main() -> int:
    options = parse_options()
    print(f"kill loop: seed {options.seed}, {options.binary}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="kill-loop-"))
    try:
        code = run(options, folder)
    except (ServerFailed, OSError, EOFError) as error:
        print(f"the run failed: {error or 'a client ended'}", file=sys.stderr)
        code = 2
    if code == 0:
        shutil.rmtree(folder)
    return code


if __name__ == "__main__":
    sys.exit(main())
