"""Starts the server named by PMCACHED_BINARY with any options, and talks to it.

Every server listens on a free port, which it reports through MEMCACHED_PORT_FILENAME, keeps its
files in a folder of its test on /dev/shm, and is gone when its test ends.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("PMCACHED_BINARY", str(REPOSITORY / "build/release/pmcached"))
MEMCACHED = shutil.which("memcached")
TIMEOUT = 120
# Sanitizers replace some system calls by nothing.
IS_SANITIZED = any(name in pathlib.Path(BINARY).read_bytes()
                   for name in (b"__asan_init", b"__tsan_init"))
IS_ROOT = os.geteuid() == 0


def wait_until(condition, what):
    """Waits for condition() to be true; fails the test if that never happens."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"timed out waiting until {what}")
        time.sleep(0.005)


class Client:
    """A connection that speaks the text protocol."""

    def __init__(self, address):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        if isinstance(address, tuple) and ":" in address[0]:
            family = socket.AF_INET6
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(TIMEOUT)
        self.socket.connect(address)
        self.received = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def read_until(self, end):
        """Everything up to and including `end`; what has come when the server closes before."""
        searched = 0
        while (found := self.received.find(end, searched)) < 0:
            searched = max(0, len(self.received) - len(end))
            piece = self.socket.recv(1 << 20)
            if not piece:
                result, self.received = self.received, b""
                return result
            self.received += piece
        end_at = found + len(end)
        result, self.received = self.received[:end_at], self.received[end_at:]
        return result

    def command(self, line, end=b"\r\n"):
        self.send(line + b"\r\n")
        return self.read_until(end)

    def store(self, key, value, flags=0, exptime=0):
        reply = self.command(b"set %s %d %d %d\r\n%s" % (key, flags, exptime, len(value), value))
        if reply != b"STORED\r\n":
            raise AssertionError(f"set {key} answered {reply}")

    def fetch(self, key):
        """The value, or None."""
        reply = self.command(b"get " + key, b"END\r\n")
        if reply == b"END\r\n":
            return None
        header, _, rest = reply.partition(b"\r\n")
        size = int(header.split()[3])
        while len(rest) < size + len(b"\r\nEND\r\n"):
            rest += self.read_until(b"END\r\n")
        return rest[:size]

    def stats(self, what=b""):
        """Name and value of each line of a stats command."""
        lines = self.command(b"stats " + what if what else b"stats", b"END\r\n").split(b"\r\n")
        return {
            line.split(b" ", 2)[1].decode(): line.split(b" ", 2)[2].decode()
            for line in lines
            if line.startswith(b"STAT ")
        }

    def is_closed_by_server(self):
        """Whether everything that comes is the end of the stream."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True


class Server:
    """One process of the server."""

    def __init__(self, folder, *options, binary=BINARY, listen=("-l", "127.0.0.1", "-p", "-1"),
                 user="root", environment=None):
        self.folder = folder
        self.port_file = folder / f"ports-{time.monotonic_ns()}"
        self.log_path = folder / f"log-{time.monotonic_ns()}"
        command = [binary, *listen, *options]
        if IS_ROOT and user:
            command += ["-u", user]
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder,
                env={"PMEM_IS_PMEM_FORCE": "1", **os.environ,
                     "MEMCACHED_PORT_FILENAME": str(self.port_file), **(environment or {})})
        self.pid = self.process.pid

    def wait_until_ready(self):
        wait_until(lambda: self.port_file.exists() or self.process.poll() is not None,
                   "the server has written its ports")
        if self.process.poll() is not None:
            raise AssertionError(f"the server ended with {self.process.returncode}: {self.log()}")
        return self

    def ports(self):
        """The ports in the order of the sockets."""
        return [int(line.split(": ")[1]) for line in self.port_file.read_text().splitlines()]

    def connect(self):
        return Client(("127.0.0.1", self.ports()[0]))

    def log(self):
        return self.log_path.read_text()

    def stop(self, number=signal.SIGTERM):
        """Sends a signal and waits for the end; returns the exit code."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self):
        return self.process.wait(TIMEOUT)

    def status(self):
        """What the kernel says of the process, by name."""
        lines = pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}

    def resident_bytes(self):
        """Memory of the process itself: without the pool and without program text."""
        return int(self.status()["RssAnon"].split()[0]) * 1024

    def end(self):
        """Kills what still runs; fails if a sanitizer has found something meanwhile."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if "Sanitizer" in self.log() or "runtime error" in self.log():
            raise AssertionError(self.log())


class ServerTest(unittest.TestCase):
    """A test with a folder and servers of its own."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pmcached-test-", dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.pool = self.folder / "pool"

    def launch(self, *options, **keywords):
        """Starts a server, which need not come up."""
        server = Server(self.folder, *options, **keywords)
        self.addCleanup(server.end)
        return server

    def start(self, *options, **keywords):
        """Starts a server and waits until it serves."""
        return self.launch(*options, **keywords).wait_until_ready()

    def start_on_pool(self, *options, **keywords):
        return self.start("-e", str(self.pool), *options, **keywords)

    def fail_to_start(self, *options, **keywords):
        """Starts a server that should not come up; returns exit code and log."""
        server = self.launch(*options, **keywords)
        return server.wait(), server.log()

    def assert_one_line(self, log, *parts):
        """The log is one line that names all of `parts`."""
        self.assertEqual(log.count("\n"), 1, log)
        for part in parts:
            self.assertIn(part, log)


@contextlib.contextmanager
def as_daemon(pid_path):
    """Kills the process of a pid file at the end, if it is still there."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            os.kill(int(pid_path.read_text()), signal.SIGKILL)
