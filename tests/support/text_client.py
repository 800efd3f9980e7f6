"""The classic text protocol over one socket, close enough to the bytes to check every one."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType

RECEIVE_BYTES = 1 << 18
TIMEOUT_SECONDS = 60.0


class ConnectionClosed(Exception):
    """The server went away before the reply was complete."""


class ProtocolError(Exception):
    """The server sent bytes that are no reply to what was asked."""


@dataclass(frozen=True)
class Value:
    """One VALUE block of a retrieval reply; `cas` is 0 for get and gat."""

    data: bytes
    flags: int
    cas: int


class TextConnection:
    """Blocking and unbuffered on the sending side; not thread safe."""

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_connection((host, port), timeout=TIMEOUT_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = bytearray()

    def __enter__(self) -> TextConnection:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def send(self, request: bytes) -> None:
        try:
            self._socket.sendall(request)
        except (ConnectionResetError, BrokenPipeError) as error:
            raise ConnectionClosed from error

    def read_line(self) -> bytes:
        """The next reply line without its \\r\\n."""
        searched = 0
        while (end := self._received.find(b"\r\n", searched)) < 0:
            searched = max(0, len(self._received) - 1)
            self._receive()
        return self._take(end, terminator=2)

    def read_values(self) -> dict[bytes, Value]:
        """The VALUE blocks up to END; a block for a key twice is an error."""
        values: dict[bytes, Value] = {}
        while (line := self.read_line()) != b"END":
            key, value = self._read_value(line)
            if key in values:
                raise ProtocolError(f"two VALUE blocks for {key!r} in one reply")
            values[key] = value
        return values

    def command(self, line: bytes) -> bytes:
        """Sends one command, given without \\r\\n, and returns its one reply line."""
        self.send(line + b"\r\n")
        return self.read_line()

    def store(
        self, verb: bytes, key: bytes, data: bytes, flags: int = 0, exptime: int = 0
    ) -> bytes:
        self.send(b"%b %b %d %d %d\r\n%b\r\n" % (verb, key, flags, exptime, len(data), data))
        return self.read_line()

    def gets(self, keys: Iterable[bytes]) -> dict[bytes, Value]:
        self.send(b"gets " + b" ".join(keys) + b"\r\n")
        return self.read_values()

    def stats(self, group: bytes = b"") -> dict[str, str]:
        self.send(b"stats " + group + b"\r\n" if group else b"stats\r\n")
        stats: dict[str, str] = {}
        while (line := self.read_line()) != b"END":
            word, name, *value = line.decode().split(" ", 2)
            if word != "STAT":
                raise ProtocolError(f"a stats reply holds the line {line!r}")
            stats[name] = value[0] if value else ""
        return stats

    def _read_value(self, line: bytes) -> tuple[bytes, Value]:
        fields = line.split(b" ")
        if fields[0] != b"VALUE" or len(fields) not in (4, 5):
            raise ProtocolError(f"a retrieval reply holds the line {line[:300]!r}")
        key, flags, length = fields[1], int(fields[2]), int(fields[3])
        while len(self._received) < length + 2:
            self._receive()
        if self._received[length : length + 2] != b"\r\n":
            raise ProtocolError(f"the value of {key!r} does not end after its {length} bytes")
        cas = int(fields[4]) if len(fields) == 5 else 0
        return key, Value(self._take(length, terminator=2), flags, cas)

    def _receive(self) -> None:
        try:
            data = self._socket.recv(RECEIVE_BYTES)
        except ConnectionResetError as error:
            raise ConnectionClosed from error
        if not data:
            raise ConnectionClosed
        self._received += data

    def _take(self, length: int, terminator: int) -> bytes:
        taken = bytes(self._received[:length])
        del self._received[: length + terminator]
        return taken
