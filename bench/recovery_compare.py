#!/usr/bin/env python3
"""Seconds from start to a full cache: pmcached after SIGKILL and after a clean stop, beside
memcached -e after its clean stop, with the same items, taking turns in one run.

Each contender is loaded once into a pool of its own; then, round by round, each is started alone,
timed until its port answers and until a random sample of its items was read back exactly, and
stopped again in its own way.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from bulk_load import count_exact, load, pool_mib, sample
from support.report import format_table
from support.server_process import (
    DEFAULT_BINARY,
    START_TIMEOUT_SECONDS,
    ServerFailed,
    ServerProcess,
    pool_file,
)

MEMCACHED = Path("/usr/bin/memcached")
# memcached refuses its file when it is started within the second in which it stopped.
MEMCACHED_PAUSE_SECONDS = 2.0
SAMPLE_ITEMS = 10_000


@dataclass
class Contender:
    server: ServerProcess
    number: signal.Signals
    pause_seconds: float
    stop: list[float] = field(default_factory=list)
    answer: list[float] = field(default_factory=list)
    full: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @property
    def label(self) -> str:
        return f"{self.server.name}, {self.number.name}"

    def stop_server(self) -> None:
        begun = time.monotonic()
        self.server.stop(self.number)
        self.stop.append(time.monotonic() - begun)

    def time_start(self, indexes: list[int], value_bytes: int) -> None:
        time.sleep(self.pause_seconds)
        self.answer.append(self.server.start())
        with self.server.connect() as connection:
            while count_exact(connection, indexes, value_bytes) < len(indexes):
                if time.monotonic() - self.server.started_at > START_TIMEOUT_SECONDS:
                    text = f"lacks items {START_TIMEOUT_SECONDS} s after its start"
                    raise ServerFailed(self.server.describe_failure(text))
        self.full.append(time.monotonic() - self.server.started_at)
        self.cpu.append(self.server.cpu_seconds())


def print_results(contenders: list[Contender], items: int) -> None:
    headings = [
        "stopped by",
        "stop s",
        "answer s",
        "least",
        "most",
        "sample s",
        "CPU s",
        "Mitems/s",
    ]
    rows = [
        [
            contender.label,
            f"{statistics.median(contender.stop):.3f}",
            f"{statistics.median(contender.answer):.3f}",
            f"{min(contender.answer):.3f}",
            f"{max(contender.answer):.3f}",
            f"{statistics.median(contender.full):.3f}",
            f"{statistics.median(contender.cpu):.2f}",
            f"{items / statistics.median(contender.answer) / 1e6:.1f}",
        ]
        for contender in contenders
    ]
    print(format_table(headings, rows))
    print("medians; answer: from start to the first reply, sample: to the sample read back exactly")
    for contender in contenders:
        lines = contender.server.log.read_text(errors="replace").splitlines()
        recovery = [line for line in lines if "recover" in line]
        if recovery:
            print(f"{contender.label}: {recovery[-1]}")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, default=DEFAULT_BINARY)
    parser.add_argument("--items", type=int, default=5_000_000)
    parser.add_argument("--value-bytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pool-dir", type=Path, default=Path("/dev/shm"))
    return parser.parse_args()


def main() -> int:
    options = parse_options()
    mib = pool_mib(options.items, options.value_bytes)
    print(
        f"{options.items} items of {options.value_bytes} bytes, pools of {mib} MiB in "
        f"{options.pool_dir}, {options.rounds} rounds, {os.cpu_count()} cores",
        flush=True,
    )
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="recovery-")))
        contenders: list[Contender] = []
        for binary, number, pause in [
            (options.binary, signal.SIGKILL, 0.0),
            (options.binary, signal.SIGTERM, 0.0),
            (MEMCACHED, signal.SIGUSR1, MEMCACHED_PAUSE_SECONDS),
        ]:
            name = f"{binary.name}-{number.name}"
            pool = stack.enter_context(pool_file(options.pool_dir, f"recovery-{name}"))
            server = ServerProcess(binary, mib, folder / f"{name}.log", pool)
            stack.callback(server.ensure_stopped)
            contenders.append(Contender(server, number, pause))
        try:
            for contender in contenders:
                contender.server.start()
                seconds = load(contender.server, options.items, options.value_bytes)
                print(f"{contender.label}: loaded in {seconds:.1f} s", flush=True)
                contender.stop_server()
            for turn in range(options.rounds):
                indexes = sample(options.items, SAMPLE_ITEMS, options.seed + turn)
                for contender in contenders:
                    contender.time_start(indexes, options.value_bytes)
                    contender.stop_server()
        except ServerFailed as error:
            print(f"the run failed: {error}", file=sys.stderr)
            return 2
        print_results(contenders, options.items)
    return 0


if __name__ == "__main__":
    sys.exit(main())
