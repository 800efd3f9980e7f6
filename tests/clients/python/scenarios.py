"""Drives one stock Python client through every scenario: scenarios.py CLIENT HOST PORT.

Prints one line for each scenario; ends with 1 and a sentence at the first difference.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from adapters import ADAPTERS, Adapter, Unsupported

LARGE_BYTES = 900 << 10
EXPIRY_TIMEOUT_SECONDS = 10.0
POLL_SECONDS = 0.1


class Difference(Exception):
    """The server did something else than memcached."""


def expect(what: str, seen: Any, expected: Any) -> None:
    if seen != expected:
        raise Difference(f"{what}: {str(seen)[:200]!r} instead of {str(expected)[:200]!r}")


def set_and_get(client: Adapter) -> None:
    for value in (b"", b"x", b"two\r\nlines\r\n", bytes(range(256))):
        expect("set", client.set("plain", value), True)
        expect("get", client.get("plain"), value)
    expect("get of a missing key", client.get("missing"), None)
    longest = "k" * 250
    expect("set of a key of 250 bytes", client.set(longest, b"long"), True)
    expect("get of a key of 250 bytes", client.get(longest), b"long")


def add(client: Adapter) -> None:
    expect("add of a new key", client.add("added", b"first"), True)
    expect("add of an existing key", client.add("added", b"second"), False)
    expect("get after the refused add", client.get("added"), b"first")


def replace(client: Adapter) -> None:
    expect("replace of a missing key", client.replace("replaced", b"none"), False)
    expect("get after the refused replace", client.get("replaced"), None)
    client.set("replaced", b"old")
    expect("replace of an existing key", client.replace("replaced", b"new"), True)
    expect("get after replace", client.get("replaced"), b"new")


def append_and_prepend(client: Adapter) -> None:
    expect("append to a missing key", client.append("joined", b"x"), False)
    expect("prepend to a missing key", client.prepend("joined", b"x"), False)
    client.set("joined", b"middle")
    expect("append", client.append("joined", b" end"), True)
    expect("prepend", client.prepend("joined", b"start "), True)
    expect("get after both", client.get("joined"), b"start middle end")


def incr_and_decr(client: Adapter) -> None:
    expect("incr of a missing key", client.incr("counter", 1), None)
    expect("decr of a missing key", client.decr("counter", 1), None)
    client.set("counter", b"10")
    expect("incr", client.incr("counter", 5), 15)
    expect("decr", client.decr("counter", 3), 12)
    expect("decr below 0", client.decr("counter", 20), 0)
    client.set("counter", b"4294967295")
    expect("incr beyond 32 bits", client.incr("counter", 1), 1 << 32)


def gets_and_cas(client: Adapter) -> None:
    client.set("checked", b"old")
    value, token = client.gets("checked")
    expect("gets", value, b"old")
    expect("cas with the current number", client.cas("checked", b"new", token), True)
    expect("cas with an outdated number", client.cas("checked", b"late", token), False)
    expect("get after both", client.get("checked"), b"new")
    client.delete("checked")
    expect("cas of a missing key", client.cas("checked", b"none", token), False)
    expect("get after the refused cas", client.get("checked"), None)


def touch(client: Adapter) -> None:
    expect("touch of a missing key", client.touch("touched", 10), False)
    client.set("touched", b"x", 1)
    expect("touch", client.touch("touched", 1000), True)
    client.set("witness", b"x", 2)
    wait_until_gone(client, "witness")
    expect("get after the first time is over", client.get("touched"), b"x")


def delete(client: Adapter) -> None:
    client.set("deleted", b"x")
    expect("delete", client.delete("deleted"), True)
    expect("get after delete", client.get("deleted"), None)
    expect("delete of a missing key", client.delete("deleted"), False)


def multi_get(client: Adapter) -> None:
    pairs = {f"many:{index}": f"value {index}".encode() * index for index in range(100)}
    for key, value in pairs.items():
        client.set(key, value)
    asked = [key for index in range(100) for key in (f"many:{index}", f"none:{index}")]
    expect("multi-get of 200 keys, 100 of them missing", client.get_many(asked), pairs)


def large_value(client: Adapter) -> None:
    value = bytes(index * 7 % 251 for index in range(LARGE_BYTES))
    expect("set of 900 KiB", client.set("large", value), True)
    expect("get of 900 KiB", client.get("large") == value, True)


def expiry(client: Adapter) -> None:
    client.set("short", b"x", 1)
    client.set("long", b"x", 1000)
    client.set("absolute", b"x", int(time.time()) + 1000)
    wait_until_gone(client, "short")
    expect("get of an item with 1000 s", client.get("long"), b"x")
    expect("get of an item with an absolute end", client.get("absolute"), b"x")


def wait_until_gone(client: Adapter, key: str) -> None:
    deadline = time.monotonic() + EXPIRY_TIMEOUT_SECONDS
    while client.get(key) is not None:
        if time.monotonic() > deadline:
            raise Difference(f"{key} outlived its TTL by {EXPIRY_TIMEOUT_SECONDS} s")
        time.sleep(POLL_SECONDS)


def flags(client: Adapter) -> None:
    for value in (42, -7, 1 << 40):
        expect("a number, its type kept in the flags", client.round_trip("typed", value), value)


def noreply(client: Adapter) -> None:
    for index in range(500):
        client.set_noreply(f"quiet:{index % 50}", f"round {index // 50}".encode())
    expected = {f"quiet:{index}": b"round 9" for index in range(50)}
    expect("multi-get after 500 silent sets", client.get_many(list(expected)), expected)


def flush_all(client: Adapter) -> None:
    client.set("flushed", b"x")
    client.flush_all()
    expect("get after flush_all", client.get("flushed"), None)
    expect("set in the same second", client.set("flushed", b"y"), True)
    expect("get in the same second", client.get("flushed"), b"y")


def stats(client: Adapter) -> None:
    found = client.stats()
    for name in ("pid", "uptime", "version", "curr_items", "cmd_get", "get_hits", "bytes"):
        if name not in found:
            raise Difference(f"stats has no {name}")
    client.get("flushed")
    growth = int(client.stats()["cmd_get"]) - int(found["cmd_get"])
    expect("growth of cmd_get after one get", growth, 1)


def version(client: Adapter) -> None:
    if not client.version():
        raise Difference("version is empty")


SCENARIOS: list[Callable[[Adapter], None]] = [
    set_and_get, add, replace, append_and_prepend, incr_and_decr, gets_and_cas, touch, delete,
    multi_get, large_value, expiry, flags, noreply, flush_all, stats, version,
]  # fmt: skip


def main() -> int:
    name, host, port = sys.argv[1:]
    client = ADAPTERS[name](host, int(port))
    client.flush_all()
    for scenario in SCENARIOS:
        try:
            scenario(client)
        except Unsupported as reason:
            print(f"n/a {scenario.__name__}: {reason}")
        except Exception as error:
            print(f"FAILED {scenario.__name__}: {error}")
            return 1
        else:
            print(f"ok {scenario.__name__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
