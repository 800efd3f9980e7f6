#!/usr/bin/env python3
"""Shows that a cache survives a kill: Debian's package index through a stock client.

For each server: every package record is stored under its package name; then several clients
overwrite and delete at random until the server is stopped in the middle of their writes; then it
is started again and every value is compared byte by byte with what was acknowledged. The operation
that a client had in flight may be found done, not done, or as a miss. Exit code 1 when pmcached
violates anything.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from pymemcache.client.base import Client
from pymemcache.exceptions import MemcacheUnexpectedCloseError
from support.report import ProgressBar, format_table
from support.server_process import DEFAULT_BINARY, ServerFailed, ServerProcess, pool_file

APT_LISTS = Path("/var/lib/apt/lists")
APT_HELPER = "/usr/lib/apt/apt-helper"
MEMCACHED = Path("/usr/bin/memcached")
# memcached refuses its file when it is started within the second in which it stopped.
MEMCACHED_PAUSE_SECONDS = 2.0
POOL_MIB = 256
WRITERS = 4
DELETE_SHARE = 0.2
KEYS_PER_READ = 100
POLL_SECONDS = 0.0005
VERSION_PREFIX = re.compile(rb"version (\d+)\n")

Records = dict[str, bytes]


@dataclass(frozen=True)
class Case:
    binary: Path
    number: signal.Signals
    pause_seconds: float
    is_judged: bool  # whether its violations fail the demo

    @property
    def label(self) -> str:
        return f"{self.binary.name} -e, {self.number.name}"


@dataclass
class Verdict:
    """What was found after the restart; the last four are the violations."""

    stored: int = 0
    acknowledged: int = 0
    in_flight: int = 0
    expected: int = 0
    found: int = 0
    exact: int = 0
    lost: int = 0
    stale: int = 0
    torn: int = 0
    resurrected: int = 0
    answer_seconds: float = 0.0
    read_seconds: float = 0.0

    @property
    def violations(self) -> int:
        return self.lost + self.stale + self.torn + self.resurrected


def read_package_index() -> Records:
    """Every record of apt's package lists by package name; the last of a name wins."""
    records: Records = {}
    for path in sorted(APT_LISTS.glob("*_Packages*")):
        text = subprocess.run([APT_HELPER, "cat-file", path], check=True, capture_output=True)
        for record in text.stdout.split(b"\n\n"):
            name, _, _ = record.removeprefix(b"Package: ").partition(b"\n")
            if record.startswith(b"Package: "):
                records[name.decode()] = record
    return records


def versioned(record: bytes, version: int) -> bytes:
    """The value of a package after `version` overwrites."""
    return b"version %d\n" % version + record if version else record


def connect(server: ServerProcess) -> Client:
    return Client(("127.0.0.1", server.port), default_noreply=False, no_delay=True)


@dataclass
class Writer:
    """One client that overwrites and deletes packages of its own until the server is gone.

    `versions` is the acknowledged state of each: None after a delete. `in_flight` is the operation
    nobody acknowledged.
    """

    names: Sequence[str]
    records: Records
    chooser: random.Random
    versions: dict[str, int | None] = field(default_factory=dict)
    acknowledged: int = 0
    in_flight: tuple[str, int | None] | None = None
    error: str = ""

    def run(self, server: ServerProcess) -> None:
        last_version = 0
        client = connect(server)
        while True:
            name = self.chooser.choice(self.names)
            last_version += 1
            version = None if self.chooser.random() < DELETE_SHARE else last_version
            self.in_flight = (name, version)
            try:
                if version is None:
                    client.delete(name)
                elif not client.set(name, versioned(self.records[name], version)):
                    self.error = f"set {name} was not stored"
                    return
            except (OSError, MemcacheUnexpectedCloseError):
                return
            self.versions[name] = version
            self.in_flight = None
            self.acknowledged += 1


def store_all(server: ServerProcess, records: Records) -> int:
    client = connect(server)
    bar = ProgressBar("  store ", len(records))
    stored = 0
    for name, record in records.items():
        stored += bool(client.set(name, record))
        bar.advance()
    return stored


def write_until_stopped(
    server: ServerProcess, writers: list[Writer], case: Case, goal: int
) -> None:
    """Stops the server after `goal` acknowledged writes, while the writers go on writing."""
    threads = [threading.Thread(target=writer.run, args=(server,)) for writer in writers]
    for thread in threads:
        thread.start()
    bar = ProgressBar("  write ", goal)
    while any(thread.is_alive() for thread in threads):
        done = sum(writer.acknowledged for writer in writers)
        bar.set(done)
        if done >= goal:
            break
        time.sleep(POLL_SECONDS)
    server.stop(case.number)
    for thread in threads:
        thread.join()
    for writer in writers:
        if writer.error:
            raise ServerFailed(f"{server.name}: {writer.error}")


def judge(
    found: bytes | None, record: bytes, version: int | None, in_flight: list[int | None]
) -> str:
    """The field of a Verdict this value counts for; empty for a package rightly absent."""
    allowed = [None if each is None else versioned(record, each) for each in (version, *in_flight)]
    if found is None:
        return "" if in_flight or version is None else "lost"
    if found in allowed:
        return "exact"
    if version is None:
        return "resurrected"
    prefix = VERSION_PREFIX.match(found)
    older = int(prefix[1]) if prefix else 0
    return "stale" if older < version and found == versioned(record, older) else "torn"


def compare_all(
    server: ServerProcess, records: Records, writers: list[Writer], verdict: Verdict
) -> None:
    versions: dict[str, int | None] = dict.fromkeys(records, 0)
    in_flight: dict[str, list[int | None]] = {}
    for writer in writers:
        versions |= writer.versions
        verdict.acknowledged += writer.acknowledged
        if writer.in_flight is not None:
            name, version = writer.in_flight
            in_flight.setdefault(name, []).append(version)
            verdict.in_flight += 1
    verdict.expected = sum(version is not None for version in versions.values())
    names = list(records)
    client = connect(server)
    bar = ProgressBar("  verify", len(names))
    for start in range(0, len(names), KEYS_PER_READ):
        wanted = names[start : start + KEYS_PER_READ]
        values = client.get_many(wanted)
        verdict.found += len(values)
        for name in wanted:
            kind = judge(values.get(name), records[name], versions[name], in_flight.get(name, []))
            if kind:
                setattr(verdict, kind, getattr(verdict, kind) + 1)
        bar.advance(len(wanted))


def run_case(case: Case, records: Records, options: argparse.Namespace, folder: Path) -> Verdict:
    print(f"{case.label}:", flush=True)
    chooser = random.Random(f"{options.seed}/{case.label}")
    names = list(records)
    writers = [
        Writer(names[number::WRITERS], records, random.Random(f"{options.seed}/{number}"))
        for number in range(WRITERS)
    ]
    verdict = Verdict()
    log = folder / f"{case.binary.name}-{case.number.name}.log"
    with pool_file(options.pool_dir, f"demo-{case.binary.name}") as pool:
        server = ServerProcess(case.binary, POOL_MIB, log, pool)
        try:
            server.start()
            verdict.stored = store_all(server, records)
            goal = chooser.randint(options.writes // 2, options.writes)
            write_until_stopped(server, writers, case, goal)
            time.sleep(case.pause_seconds)
            first_log_bytes = log.stat().st_size
            verdict.answer_seconds = server.start()
            compare_all(server, records, writers, verdict)
            verdict.read_seconds = time.monotonic() - server.started_at
        finally:
            server.ensure_stopped()
    lines = log.read_bytes()[first_log_bytes:].decode(errors="replace").splitlines()
    for line in [line for line in lines if "recovered" in line or "[restart]" in line][-1:]:
        print(f"  log: {line}")
    return verdict


def print_table(verdicts: dict[Case, Verdict]) -> None:
    headings = ["", *(case.label for case in verdicts)]
    rows = {
        "records stored": "stored",
        "further writes acknowledged": "acknowledged",
        "writes in flight at the stop": "in_flight",
        "records that must be there": "expected",
        "found after the restart": "found",
        "exact": "exact",
        "lost": "lost",
        "stale": "stale",
        "torn": "torn",
        "resurrected": "resurrected",
    }
    table = [
        [title, *(str(getattr(verdict, name)) for verdict in verdicts.values())]
        for title, name in rows.items()
    ]
    for title, name in {
        "seconds from start to first answer": "answer_seconds",
        "seconds from start to all compared": "read_seconds",
    }.items():
        table.append([title, *(f"{getattr(verdict, name):.3f}" for verdict in verdicts.values())])
    print(format_table(headings, table))


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, default=DEFAULT_BINARY)
    parser.add_argument("--pool-dir", type=Path, default=Path("/dev/shm"))
    parser.add_argument("--writes", type=int, default=40000, help="most writes before the stop")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    return parser.parse_args()


def main() -> int:
    options = parse_options()
    records = read_package_index()
    if not records:
        print(f"no package lists in {APT_LISTS}: run apt-get update", file=sys.stderr)
        return 2
    sizes = sorted(map(len, records.values()))
    print(
        f"{len(records)} package records, {sum(sizes) / 1e6:.1f} MB, {sizes[0]} to {sizes[-1]} "
        f"bytes, median {sizes[len(sizes) // 2]}; seed {options.seed}"
    )
    cases = [
        Case(options.binary, signal.SIGKILL, 0.0, is_judged=True),
        Case(MEMCACHED, signal.SIGKILL, MEMCACHED_PAUSE_SECONDS, is_judged=False),
        Case(MEMCACHED, signal.SIGUSR1, MEMCACHED_PAUSE_SECONDS, is_judged=False),
    ]
    verdicts: dict[Case, Verdict] = {}
    with tempfile.TemporaryDirectory(prefix="demo-") as folder:
        try:
            for case in cases:
                verdicts[case] = run_case(case, records, options, Path(folder))
        except ServerFailed as error:
            print(f"the demo failed: {error}", file=sys.stderr)
            return 2
    print_table(verdicts)
    violations = sum(verdict.violations for case, verdict in verdicts.items() if case.is_judged)
    print(f"{options.binary.name}: {violations} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
