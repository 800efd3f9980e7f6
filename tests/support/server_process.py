"""A cache server under test: started, measured, killed and started again by a program."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .text_client import ConnectionClosed, TextConnection

REPOSITORY = Path(__file__).resolve().parents[2]
DEFAULT_BINARY = REPOSITORY / "build" / "release" / "pmcached"
START_TIMEOUT_SECONDS = 120.0
STOP_TIMEOUT_SECONDS = 120.0
POLL_SECONDS = 0.001


class ServerFailed(Exception):
    """The server did not start, did not answer, or did not stop; the text ends with its log."""


def free_port() -> int:
    """A TCP port on loopback nobody listens on, below the range the kernel gives to clients."""
    chooser = random.SystemRandom()
    for _ in range(100):
        port = chooser.randrange(12000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ServerFailed("no free TCP port between 12000 and 31999 on 127.0.0.1")


@dataclass(frozen=True)
class Memory:
    """What the kernel says a process holds, in bytes."""

    anonymous: int  # heap and stacks: the DRAM of a server whose items are in a mapped pool
    file: int
    shared: int  # pages of tmpfs, such as a pool on /dev/shm

    @property
    def resident(self) -> int:
        return self.anonymous + self.file + self.shared


@dataclass
class ServerProcess:
    """One server and its log; start() and stop() may alternate. Not thread safe.

    memcached and pmcached take the same options, so one class runs both. The port stays the same
    over restarts, as it does for a server in service.
    """

    binary: Path
    memory_mib: int
    log: Path
    pool: Path | None = None
    extra_args: list[str] = field(default_factory=list)
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0

    @property
    def name(self) -> str:
        return self.binary.name

    @property
    def pid(self) -> int:
        if self.process is None:
            raise ServerFailed(f"{self.name} is not running")
        return self.process.pid

    def command(self) -> list[str]:
        command = [str(self.binary), "-l", "127.0.0.1", "-p", str(self.port), "-u", "root"]
        command += ["-m", str(self.memory_mib)]
        if self.pool is not None:
            command += ["-e", str(self.pool)]
        return command + self.extra_args

    def launch(self) -> None:
        """Starts the process and returns at once."""
        with self.log.open("ab") as log:
            self.started_at = time.monotonic()
            self.process = subprocess.Popen(
                self.command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment()
            )

    def start(self) -> float:
        """Starts the server; returns the seconds until it answered its first command."""
        self.launch()
        return self.wait_until_answering()

    def wait_until_answering(self) -> float:
        while time.monotonic() - self.started_at < START_TIMEOUT_SECONDS:
            if self.process is None or self.process.poll() is not None:
                raise ServerFailed(self.describe_failure("ended before it answered"))
            with contextlib.suppress(OSError, ConnectionClosed), self.connect() as connection:
                connection.command(b"version")
                return time.monotonic() - self.started_at
            time.sleep(POLL_SECONDS)
        raise ServerFailed(self.describe_failure(f"gave no answer in {START_TIMEOUT_SECONDS} s"))

    def connect(self) -> TextConnection:
        return TextConnection("127.0.0.1", self.port)

    def send_signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def wait_until_stopped(self) -> int:
        """Waits for the process to end; returns its exit code, negative for a signal."""
        if self.process is None:
            raise ServerFailed(f"{self.name} is not running")
        try:
            code = self.process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            message = self.describe_failure(f"did not stop within {STOP_TIMEOUT_SECONDS} s")
            raise ServerFailed(message) from None
        self.process = None
        return code

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.send_signal(number)
        return self.wait_until_stopped()

    def ensure_stopped(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def cpu_seconds(self) -> float:
        """User and system time of all threads since the process started."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> Memory:
        status = Path(f"/proc/{self.pid}/status").read_text()
        kib = {
            line.partition(":")[0]: int(line.split()[1])
            for line in status.splitlines()
            if line.startswith("Rss")
        }
        return Memory(kib["RssAnon"] << 10, kib["RssFile"] << 10, kib["RssShmem"] << 10)

    def log_tail(self, lines: int = 15) -> str:
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def describe_failure(self, what: str) -> str:
        code = self.process.poll() if self.process is not None else None
        ending = "" if code is None else f" (exit code {code})"
        return f"{self.name} {what}{ending}: {' '.join(self.command())}\n{self.log_tail()}"


def environment() -> Mapping[str, str]:
    """tmpfs stands in for persistent memory, unless the caller's environment says otherwise."""
    return {"PMEM_IS_PMEM_FORCE": "1"} | dict(os.environ)


@contextlib.contextmanager
def pool_file(folder: Path, name: str) -> Iterator[Path]:
    """A path for a pool that is not there yet; at the end the pool and files beside it go."""
    path = folder / f"{name}-{os.getpid()}.pool"
    try:
        yield path
    finally:
        for leftover in folder.glob(f"{path.name}*"):
            leftover.unlink()
