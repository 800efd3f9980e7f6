"""Fills a server with many small items fast: silent sets, sent in large buffers."""

from __future__ import annotations

import random
import time

from support.report import ProgressBar
from support.server_process import ServerFailed, ServerProcess
from support.text_client import TextConnection

KEY = b"key:%010d"
KEY_BYTES = 14
ITEMS_PER_BUFFER = 20_000
KEYS_PER_READ = 100
POLL_SECONDS = 0.05
SETTLE_TIMEOUT_SECONDS = 60.0
# More than any server here spends on one item beside key and value, its size class included.
OVERHEAD_BYTES = 96
SIZE_CLASS_FACTOR = 1.3


def value_of(index: int, value_bytes: int) -> bytes:
    """The value of the item `index`: its number, filled up with zeros on the left."""
    return (b"%0*d" % (value_bytes, index))[-value_bytes:]


def pool_mib(items: int, value_bytes: int) -> int:
    """Enough memory for these items without eviction."""
    item_bytes = SIZE_CLASS_FACTOR * (KEY_BYTES + value_bytes + OVERHEAD_BYTES)
    return 64 + int(items * item_bytes) // (1 << 20)


def load(server: ServerProcess, items: int, value_bytes: int) -> float:
    """Stores items 0 to `items` - 1 and makes sure all are held; returns the seconds it took."""
    bar = ProgressBar(f"  load {server.name}", items)
    pattern = b"set " + KEY + b" 0 0 %d noreply\r\n" % value_bytes + b"%b\r\n"
    begun = time.monotonic()
    with server.connect() as connection:
        for start in range(0, items, ITEMS_PER_BUFFER):
            indexes = range(start, min(start + ITEMS_PER_BUFFER, items))
            sets = (pattern % (index, value_of(index, value_bytes)) for index in indexes)
            connection.send(b"".join(sets))
            bar.advance(len(indexes))
        connection.command(b"version")
        seconds = time.monotonic() - begun
        wait_until_settled(connection)
        stats = connection.stats()
    if int(stats["curr_items"]) != items or stats["evictions"] != "0":
        found = f"{stats['curr_items']} items and {stats['evictions']} evictions"
        raise ServerFailed(f"{server.name} holds {found} after {items} sets")
    return seconds


def wait_until_settled(connection: TextConnection) -> None:
    """Waits until the hash table has its final size."""
    deadline = time.monotonic() + SETTLE_TIMEOUT_SECONDS
    while connection.stats()["hash_is_expanding"] != "0":
        if time.monotonic() > deadline:
            raise ServerFailed(f"the hash table grows for {SETTLE_TIMEOUT_SECONDS} s already")
        time.sleep(POLL_SECONDS)


def count_exact(connection: TextConnection, indexes: list[int], value_bytes: int) -> int:
    """How many of these items are there with their value."""
    exact = 0
    for start in range(0, len(indexes), KEYS_PER_READ):
        wanted = {KEY % index: index for index in indexes[start : start + KEYS_PER_READ]}
        for key, value in connection.gets(wanted).items():
            exact += value.data == value_of(wanted[key], value_bytes)
    return exact


def sample(items: int, size: int, seed: int) -> list[int]:
    return random.Random(seed).sample(range(items), min(items, size))
