"""Checks the checker of the kill loop: faults, injected through the protocol, must be caught."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from key_model import Item
from loop_client import Target
from support.report import format_table
from support.text_client import TextConnection

if TYPE_CHECKING:
    from kill_loop import KillLoop

ATTEMPTS = 10
MARGIN_SECONDS = 0.1


def drop(connection: TextConnection, key: bytes, item: Item | None) -> None:
    """An acknowledged write is lost."""
    connection.command(b"delete " + key)


def flip_bit(connection: TextConnection, key: bytes, item: Item | None) -> None:
    """One bit of a value is damaged."""
    assert item is not None
    middle = len(item.data) // 2
    damaged = bytearray(item.data)
    damaged[middle] ^= 1
    connection.store(b"set", key, bytes(damaged), item.flags)


def cut_short(connection: TextConnection, key: bytes, item: Item | None) -> None:
    """A value lost its last byte."""
    assert item is not None
    connection.store(b"set", key, item.data[:-1], item.flags)


def resurrect(connection: TextConnection, key: bytes, item: Item | None) -> None:
    """A removed key holds a value."""
    connection.store(b"set", key, b"1")


def change_flags(connection: TextConnection, key: bytes, item: Item | None) -> None:
    """The flags of an item are others."""
    assert item is not None
    connection.store(b"set", key, item.data, item.flags ^ 1)


def change_cas(connection: TextConnection, key: bytes, item: Item | None) -> None:
    """Data and flags are right, the CAS number is another."""
    assert item is not None
    connection.command(b"touch %b 0" % key)
    connection.store(b"set", key, item.data, item.flags)


def forget_end(connection: TextConnection, key: bytes, item: Item | None) -> None:
    """An item outlives its TTL."""
    assert item is not None
    connection.command(b"touch %b 0" % key)
    time.sleep(max(0.0, item.ends_before - time.time()) + MARGIN_SECONDS)


@dataclass(frozen=True)
class Fault:
    inject: Callable[[TextConnection, bytes, Item | None], None]
    target: str
    kinds: frozenset[str]  # what the checker may call it


FAULTS = [
    Fault(drop, "lasts", frozenset({"lost"})),
    Fault(flip_bit, "lasts", frozenset({"torn", "stale"})),
    Fault(cut_short, "lasts", frozenset({"torn", "stale"})),
    Fault(resurrect, "absent", frozenset({"resurrected"})),
    Fault(change_flags, "lasts", frozenset({"flags"})),
    Fault(change_cas, "lasts", frozenset({"cas"})),
    Fault(forget_end, "ends", frozenset({"outlived"})),
]


def run_self_test(loop: KillLoop) -> int:
    """Returns the exit code: 0 when every fault was caught, and nothing else was reported."""
    rows: list[list[str]] = []
    for fault in FAULTS:
        target = stop_with_target(loop, fault.target)
        if target is None:
            rows.append([fault.inject.__name__, "no key to inject it into", "FAILED"])
            continue
        with loop.server.connect() as connection:
            fault.inject(connection, target.key, target.item)
        found = loop.verify()
        caught = len(found) == 1 and found[0].key == target.key and found[0].kind in fault.kinds
        seen = "; ".join(map(str, found[:3])) or "nothing"
        rows.append([fault.inject.__name__, seen[:70], "caught" if caught else "FAILED"])
    print(format_table(["injected fault", "reported", "result"], rows))
    missed = sum(row[-1] != "caught" for row in rows)
    print(f"{len(rows) - missed} of {len(rows)} faults caught")
    return 1 if missed else 0


def stop_with_target(loop: KillLoop, kind: str) -> Target | None:
    """Runs rounds until a client has a key of this kind after the restart."""
    for _ in range(ATTEMPTS):
        loop.write_and_stop()
        loop.server.start()
        for client in loop.clients:
            target: Target | None = client.call("pick_target", kind)
            if target is not None:
                return target
        loop.verify()
    return None
