#!/usr/bin/env python3
"""Replays the wire cases against a memcached-compatible server on TCP and compares every byte.

    replay.py --program /usr/bin/memcached              starts the server as each case wants it
    replay.py --server 127.0.0.1:11211 [--options=-F]   uses a running one, whose cache it empties

README.md tells the format of the cases. Exit code 0 if all passed.
"""

import argparse
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

CASES = pathlib.Path(__file__).parent / "cases"
START_TIMEOUT = 10.0
REPLY_TIMEOUT = 5.0
FENCE_KEY = b"replay-fence"


class Case:
    """One dialogue: steps are ("send", text), ("expect", dialect, text), ("close",), ("wait", n)."""

    def __init__(self, file, name):
        self.file = file
        self.name = name
        self.options = ""
        self.whole = False
        self.fresh = False
        self.differs = None
        self.steps = []

    def title(self):
        return f"{self.file.name}: {self.name}"

    def run(self):
        """Cases of the same run share a server."""
        return self.options, self.title() if self.fresh else ""


def parse_file(path):
    cases = []
    for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
        try:
            parse_line(line, path, cases)
        except (ValueError, IndexError) as error:
            raise SystemExit(f"{path}:{number}: {error}: {line!r}") from error
    for case in cases:
        marked = any(step[0] == "expect" and step[1] for step in case.steps)
        if marked != (case.differs is not None):
            raise SystemExit(f"{case.title()}: a difference needs @differs, and @differs one")
    return cases


def parse_line(line, path, cases):
    mark, _, rest = line.partition(" ")
    if not line or mark.startswith("#"):
        return
    if mark == "==":
        cases.append(Case(path, rest))
        return
    case = cases[-1]
    if mark == "@options":
        case.options = rest
    elif mark == "@whole":
        case.whole = True
    elif mark == "@fresh":
        case.fresh = True
    elif mark == "@differs":
        case.differs = rest
    elif mark == ">":
        case.steps.append(("send", rest + "\\r\\n"))
    elif mark == ">>":
        case.steps.append(("send", rest))
    elif mark == "<":
        case.steps.append(("expect", None, rest + "\\r\\n"))
    elif mark == "<<":
        case.steps.append(("expect", None, rest))
    elif mark in ("<memcached", "<pmcached"):
        case.steps.append(("expect", mark[1:], rest + "\\r\\n"))
    elif mark == "<close":
        case.steps.append(("close",))
    elif mark == "+":
        case.steps.append(("wait", int(rest)))
    else:
        raise ValueError("unknown mark")


ESCAPES = {"r": b"\r", "n": b"\n", "t": b"\t", "0": b"\0", "\\": b"\\"}
PIECE = re.compile(
    r"\\x(?P<hex>[0-9a-f]{2})|\\(?P<escape>.)|\{(?P<run>[^{}]+)\*(?P<times>\d+)\}"
    r"|\{#(?P<number>\w*)\}|\{\$(?P<use>\w+)\}|\{(?P<any>\*)\}|(?P<text>.)", re.S)


def expand(text, numbers, as_pattern):
    """Bytes to send, or a regular expression of the bytes to expect."""
    out = b""
    for piece in PIECE.finditer(text):
        kind = piece.lastgroup
        if kind == "number":
            name = piece["number"]
            out += b"(?P<%s>[0-9]+)" % name.encode() if name else b"[0-9]+"
            continue
        if kind == "any":
            out += b"[^\r\n]*"
            continue
        if kind == "hex":
            literal = bytes([int(piece["hex"], 16)])
        elif kind == "escape":
            literal = ESCAPES[piece["escape"]]
        elif kind == "times":
            literal = expand(piece["run"], numbers, False) * int(piece["times"])
        elif kind == "use":
            literal = numbers[piece["use"]]
        else:
            literal = piece["text"].encode("ascii")
        out += re.escape(literal) if as_pattern else literal
    return out


class Client:
    def __init__(self, address):
        self.socket = socket.create_connection(address, REPLY_TIMEOUT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""
        self.closed = False

    def send(self, data, size):
        """Sends in pieces of `size` bytes."""
        try:
            for start in range(0, len(data), size):
                self.socket.sendall(data[start:start + size])
        except (BrokenPipeError, ConnectionResetError):
            self.closed = True  # what was received before still counts

    def receive(self, timeout):
        self.socket.settimeout(timeout)
        try:
            data = self.socket.recv(1 << 20)
            self.closed = self.closed or not data
            self.received += data
            return bool(data)
        except TimeoutError:
            return False
        except ConnectionResetError:
            self.closed = True
            return False

    def expect(self, pattern):
        """Reads until `pattern` matches what came, or nothing more comes."""
        compiled = re.compile(pattern, re.S)
        open_end = pattern.endswith((b"+", b"*"))  # a number or free text that might go on
        deadline = time.monotonic() + REPLY_TIMEOUT
        while True:
            match = compiled.match(self.received)
            if match and (not open_end or match.end() < len(self.received)):
                self.received = self.received[match.end():]
                return {name: value for name, value in match.groupdict().items()}
            left = deadline - time.monotonic()
            if left <= 0 or not self.receive(left):
                return None

    def await_close(self):
        while not self.closed and self.receive(REPLY_TIMEOUT):
            pass
        return self.closed

    def nothing_left(self):
        """Whether a request sent now is answered next: nothing unexpected came before."""
        self.send(b"get %s\r\n" % FENCE_KEY, 1 << 20)
        return self.expect(re.escape(b"END\r\n")) is not None and not self.received


def run_case(case, address, dialect, piece_size):
    """Returns None or what went wrong."""
    numbers = {}
    client = Client(address)
    unfinished = False  # the last bytes sent leave the server in the middle of a request
    for step in case.steps:
        if step[0] == "send":
            data = expand(step[1], numbers, False)
            unfinished = not data.endswith(b"\n")
            client.send(data, piece_size)
        elif step[0] == "expect" and step[1] in (None, dialect):
            found = client.expect(expand(step[2], numbers, True))
            if found is None:
                return f"expected {step[2]!r}, got {client.received[:300]!r}"
            numbers.update(found)
        elif step[0] == "close":
            if not client.await_close():
                return "the connection stayed open"
            if client.received:
                return f"unexpected {client.received[:300]!r}"
        elif step[0] == "wait":
            time.sleep(step[1] + 1.1)  # servers' clocks tick once a second
    if not client.closed and not unfinished and not client.nothing_left():
        return f"unexpected {client.received[:300]!r}"
    client.socket.close()
    return None


def empty_cache(address):
    client = Client(address)
    client.send(b"flush_all\r\n", 100)
    client.expect(rb"[^\n]*\n")
    client.socket.close()


class Server:
    """A server process with the given options on a free port of the loopback interface."""

    def __init__(self, program, options):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = probe.getsockname()
        command = [program, "-l", "127.0.0.1", "-p", str(self.address[1]), "-u", "nobody"]
        if pathlib.Path(program).name == "memcached":
            command += ["-U", "0"]
        self.process = subprocess.Popen(command + options.split(), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_TIMEOUT
        while True:
            try:
                socket.create_connection(self.address, 1).close()
                return
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    self.stop()
                    raise SystemExit(f"{program} {options} does not start") from None
                time.sleep(0.02)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = arguments.add_mutually_exclusive_group(required=True)
    target.add_argument("--program", help="server to start")
    target.add_argument("--server", help="HOST:PORT of a running server")
    arguments.add_argument("--options", default="", help="what the running server was started with")
    arguments.add_argument("--dialect", choices=("memcached", "pmcached"),
                           help="whose differences to expect; default: by the program's name")
    arguments.add_argument("--pieces", type=int, default=1 << 30,
                           help="send this many bytes at a time")
    arguments.add_argument("files", nargs="*", type=pathlib.Path, help="default: all cases")
    args = arguments.parse_args()
    program = args.program and shutil.which(args.program)
    if args.program and not program:
        arguments.error(f"{args.program} is not a program")
    name = pathlib.Path(program).name if program else ""
    dialect = args.dialect or ("memcached" if name == "memcached" else "pmcached")

    cases = [case for path in args.files or sorted(CASES.glob("*.wire"))
             for case in parse_file(path)]
    if args.pieces < 1 << 30:
        cases = [case for case in cases if not case.whole]
    failures = passed = 0
    runs = sorted({case.run() for case in cases})
    for options, fresh in runs:
        if not program and (options != args.options or fresh):
            continue
        server = Server(program, options) if program else None
        host, _, port = (args.server or "").rpartition(":")
        address = server.address if server else (host, int(port))
        for case in (case for case in cases if case.run() == (options, fresh)):
            empty_cache(address)
            wrong = run_case(case, address, dialect, args.pieces)
            passed += wrong is None
            failures += wrong is not None
            if wrong:
                print(f"FAILED {case.title()}\n    {wrong}")
        if server:
            server.stop()
    skipped = len(cases) - passed - failures
    print(f"{passed} passed, {failures} failed, {skipped} skipped")
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
