"""One checking client of the kill loop: a process with its own keys and its own connection."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import Any

from key_model import Item, KeyModel, Operation, Period, Presence, Violation
from support.text_client import ConnectionClosed, ProtocolError, TextConnection, Value
from traffic import Traffic, make_keys

KEYS_PER_READ = 40
SOON_SECONDS = 1.0
REMEMBERED_COMMANDS = 6


@dataclass
class Findings:
    """What one phase of one client did and saw."""

    acknowledged: Counter[str] = field(default_factory=Counter)
    in_flight: Counter[str] = field(default_factory=Counter)
    items: int = 0  # found by the verification
    missing: int = 0  # keys that hold nothing, rightly
    lasting_found: int = 0  # of the items before an unacknowledged flush_all ...
    lasting_missing: int = 0
    violations: list[Violation] = field(default_factory=list)


@dataclass(frozen=True)
class Target:
    """A key and what it holds, for a fault that the parent is to inject."""

    key: bytes
    item: Item | None


class LoopClient:
    """Runs in the child process; the parent calls its methods by name, one at a time."""

    def __init__(self, number: int, seed: int, port: int, acknowledged: Any) -> None:
        self._number = number
        self._port = port
        self._shared_acknowledged = acknowledged
        self._model = KeyModel(make_keys(number))
        self._chooser = random.Random(f"{seed}/{number}")
        self._traffic = Traffic(self._chooser, self._model)
        self._in_flight: deque[Operation] = deque()
        self._sent_at = 0.0
        self._flush_in_flight = False
        self._commands: dict[bytes, deque[str]] = defaultdict(
            lambda: deque(maxlen=REMEMBERED_COMMANDS)
        )

    def run_traffic(self) -> Findings:
        """Sends batches until the server goes away."""
        findings = Findings()
        try:
            with TextConnection("127.0.0.1", self._port) as connection:
                while not findings.violations:
                    self._run_batch(connection, self._traffic.next_batch(), findings)
        except (ConnectionClosed, ConnectionRefusedError):
            pass
        except (ProtocolError, ValueError, TimeoutError) as error:
            findings.violations.append(Violation("reply", b"-", repr(error)))
        findings.in_flight.update(operation.verb for operation in self._in_flight)
        for operation in self._in_flight:
            self._remember(operation, "unanswered")
        return findings

    def flush(self, is_acknowledged: bool) -> Findings:
        """Told by the parent that it sent flush_all while nobody else wrote."""
        if is_acknowledged:
            self._model.forget_all()
        self._flush_in_flight = not is_acknowledged
        return Findings()

    def verify(self) -> Findings:
        """Reads every key after a restart and judges it."""
        findings = Findings()
        try:
            with TextConnection("127.0.0.1", self._port) as connection:
                self._verify_all(connection, findings)
        except (ConnectionClosed, ConnectionRefusedError, ProtocolError, TimeoutError) as error:
            findings.violations.append(Violation("reply", b"-", f"during verification: {error!r}"))
        self._in_flight.clear()
        self._flush_in_flight = False
        return findings

    def pick_target(self, kind: str) -> Target | None:
        """A key for a fault: one that "lasts", one that is "absent", one that "ends" soon."""
        now = time.time()
        uncertain = {operation.key for operation in self._in_flight}
        keys = [key for key in self._model.items if key not in uncertain]
        self._chooser.shuffle(keys)
        for key in keys:
            item = self._model.items[key]
            if kind == classify(item, now):
                return Target(key, item)
        return None

    def _verify_all(self, connection: TextConnection, findings: Findings) -> None:
        writing = Period(self._sent_at, time.time())
        holders: dict[int, bytes] = {}
        keys = list(self._model.items)
        for start in range(0, len(keys), KEYS_PER_READ):
            wanted = keys[start : start + KEYS_PER_READ]
            sent = time.time()
            values = connection.gets(wanted)
            period = Period(sent, time.time())
            findings.violations += unasked(values, wanted)
            for key in wanted:
                own = [operation for operation in self._in_flight if operation.key == key]
                states = self._model.candidates(key, own, writing)
                self._verify_key(key, values.get(key), states, period, findings)
            for key, value in values.items():
                if (other := holders.setdefault(value.cas, key)) != key:
                    text = f"has cas {value.cas}, which {other.decode()} has, too"
                    findings.violations.append(Violation("cas", key, text))

    def _run_batch(
        self, connection: TextConnection, batch: list[Operation], findings: Findings
    ) -> None:
        self._sent_at = time.time()
        self._in_flight.extend(batch)
        connection.send(b"".join(operation.request for operation in batch))
        for operation in batch:
            if operation.has_reply and not self._take_reply(connection, operation, findings):
                return

    def _take_reply(
        self, connection: TextConnection, operation: Operation, findings: Findings
    ) -> bool:
        values = connection.read_values() if operation.is_read else {}
        reply = b"END" if operation.is_read else connection.read_line()
        period = Period(self._sent_at, time.time())
        if reply not in operation.outcomes:
            expected = b" or ".join(operation.outcomes)
            text = f"{operation.verb} answered {reply[:200]!r}, expected {expected!r}"
            findings.violations.append(Violation("reply", operation.key, text))
            return False
        while self._in_flight:
            done = self._in_flight.popleft()
            self._remember(done, "answered")
            if done is operation:
                break
            [effect] = done.outcomes.values()
            self._acknowledge(done, effect(self._model.items[done.key], period), findings)
        before = self._model.items[operation.key]
        if operation.is_read:
            findings.violations += unasked(values, [operation.key])
            found = values.get(operation.key)
            violation = self._model.judge(operation.key, found, [before], period)
            self._report(violation, findings)
            before = self._model.items[operation.key]
        effect = operation.outcomes[reply]
        self._acknowledge(operation, effect(before, period), findings)
        return not findings.violations

    def _acknowledge(self, operation: Operation, after: Item | None, findings: Findings) -> None:
        self._model.assign(operation.key, after)
        findings.acknowledged[operation.verb] += 1
        self._shared_acknowledged[self._number] += 1

    def _verify_key(
        self,
        key: bytes,
        found: Value | None,
        states: list[Item | None],
        period: Period,
        findings: Findings,
    ) -> None:
        if self._flush_in_flight:
            item = self._model.items[key]
            if item is not None and item.is_lasting(period.done):
                findings.lasting_found += found is not None
                findings.lasting_missing += found is None
            states.append(None)
        self._report(self._model.judge(key, found, states, period), findings)
        findings.items += found is not None
        findings.missing += found is None

    def _remember(self, operation: Operation, outcome: str) -> None:
        line = operation.request.partition(b"\r\n")[0].decode()
        self._commands[operation.key].append(f"{line} ({outcome})")

    def _report(self, violation: Violation | None, findings: Findings) -> None:
        """Notes a violation together with the last commands on its key."""
        if violation is not None:
            commands = "; ".join(self._commands[violation.key])
            details = f"{violation.details}. Before: {commands}"
            findings.violations.append(replace(violation, details=details))


def classify(item: Item | None, now: float) -> str:
    """What pick_target() calls an item; "uncertain" if not all of it is known."""
    if item is None:
        return "absent"
    if item.is_lasting(now):
        return "uncertain" if item.cas is None else "lasts"
    soon = Period(now + SOON_SECONDS, now + SOON_SECONDS)
    return "ends" if item.presence(soon) is Presence.PRESENT else "uncertain"


def unasked(values: Iterable[bytes], wanted: Iterable[bytes]) -> list[Violation]:
    return [
        Violation("reply", key, "a VALUE block for a key not asked for")
        for key in set(values) - set(wanted)
    ]


class ClientProcess:
    """The parent's end of one client."""

    def __init__(self, number: int, seed: int, port: int, acknowledged: Any) -> None:
        context = multiprocessing.get_context("fork")
        self._pipe, remote = context.Pipe()
        self._process = context.Process(
            target=serve, args=(remote, number, seed, port, acknowledged), daemon=True
        )
        self._process.start()
        remote.close()

    def begin(self, method: str, *arguments: object) -> None:
        self._pipe.send((method, arguments))

    def is_finished(self) -> bool:
        return self._pipe.poll()

    def finish(self) -> Any:
        return self._pipe.recv()

    def call(self, method: str, *arguments: object) -> Any:
        self.begin(method, *arguments)
        return self.finish()

    def close(self) -> None:
        self._pipe.close()
        self._process.terminate()
        self._process.join()


def serve(pipe: Connection, number: int, seed: int, port: int, acknowledged: Any) -> None:
    """The child's main loop: one method call after the other until the parent goes away."""
    client = LoopClient(number, seed, port, acknowledged)
    while True:
        try:
            method, arguments = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        pipe.send(getattr(client, method)(*arguments))
