"""Mixed traffic on the keys of one client: batches of commands whose replies are known before."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable

from key_model import (
    FOREVER,
    Effect,
    Item,
    KeyModel,
    Lifetime,
    Operation,
    Period,
    Presence,
    create,
    is_numeric,
    keep,
    remove,
    retime,
    rewrite,
)

SMALL_KEYS = 200
NUMERIC_KEYS = 40
LARGE_KEYS = 2
LARGE_KEY_SHARE = 0.004
NUMERIC_KEY_SHARE = 0.2

SMALL_BYTES = (1, 8 << 10)
LARGE_BYTES = (100 << 10, 2 << 20)
LONGEST_APPENDED_SMALL = 16 << 10
LONGEST_APPENDED_LARGE = 3 << 20

BATCH_SHARE = 0.35
LARGEST_BATCH = 16
NOREPLY_SHARE = 0.2

COMMON_WEIGHTS = {
    "set": 30, "add": 8, "replace": 8, "cas": 10, "touch": 6, "gat": 3, "delete": 7, "gets": 12,
}  # fmt: skip
WEIGHTS = {
    False: COMMON_WEIGHTS | {"append": 6, "prepend": 5},
    True: COMMON_WEIGHTS | {"incr": 20, "decr": 15},
}


def make_keys(client: int) -> list[bytes]:
    counts = {"small": SMALL_KEYS, "number": NUMERIC_KEYS, "large": LARGE_KEYS}
    return [
        f"{kind}:client{client}:{index:03}".encode()
        for kind, count in counts.items()
        for index in range(count)
    ]


class Traffic:
    """Chooses operations; the same seed and the same replies give the same operations."""

    def __init__(self, chooser: random.Random, model: KeyModel) -> None:
        self._chooser = chooser
        self._model = model
        keys = list(model.items)
        self._small = [key for key in keys if key.startswith(b"small")]
        self._numeric = [key for key in keys if is_numeric(key)]
        self._large = [key for key in keys if key.startswith(b"large")]
        self._makers: dict[str, Callable[[bytes, Item | None], Operation]] = {
            "set": self._set, "add": self._add, "replace": self._replace, "cas": self._cas,
            "append": self._concatenate, "prepend": self._prepend, "incr": self._incr,
            "decr": self._decr, "touch": self._touch, "gat": self._gat, "delete": self._delete,
            "gets": self._gets,
        }  # fmt: skip

    def next_batch(self) -> list[Operation]:
        """Operations to send at once; the last has a reply, so every batch ends with one.

        A large value travels alone: nobody reads replies while a batch is being sent.
        """
        if self._chooser.random() < LARGE_KEY_SHARE:
            key = self._chooser.choice(self._large)
            return [self._make(key, self._model.items[key], may_be_silent=False)]
        size = 1
        if self._chooser.random() < BATCH_SHARE:
            size = self._chooser.randint(2, LARGEST_BATCH)
        now = Period(time.time(), time.time())
        predicted: dict[bytes, Item | None] = {}
        unsettled: set[bytes] = set()
        batch: list[Operation] = []
        while len(batch) < size:
            numeric = self._chooser.random() < NUMERIC_KEY_SHARE
            key = self._chooser.choice(self._numeric if numeric else self._small)
            if key in unsettled:
                continue
            before = predicted.get(key, self._model.items[key])
            operation = self._make(key, before, may_be_silent=len(batch) < size - 1)
            if len(operation.outcomes) > 1:
                unsettled.add(key)
            for effect in operation.outcomes.values():
                predicted[key] = effect(before, now)
            batch.append(operation)
        return batch

    def _make(self, key: bytes, before: Item | None, may_be_silent: bool) -> Operation:
        now = time.time()
        if before is not None and not before.is_lasting(now):
            if before.presence(Period(now, now)) is not Presence.ABSENT:
                return self._make_on_uncertain(key)
            before = None
        weights = WEIGHTS[is_numeric(key)]
        verb = self._chooser.choices(list(weights), list(weights.values()))[0]
        operation = self._makers[verb](key, before)
        if may_be_silent and not operation.is_read and self._chooser.random() < NOREPLY_SHARE:
            return silence(operation)
        return operation

    def _make_on_uncertain(self, key: bytes) -> Operation:
        """Commands on an item near its end: what it is afterwards, the reply tells."""
        verb = self._chooser.choice(["set", "delete", "touch"])
        if verb == "set":
            return self._set(key, None)
        if verb == "delete":
            outcomes: dict[bytes, Effect] = {b"DELETED": remove, b"NOT_FOUND": remove}
            return Operation("delete", key, b"delete %b\r\n" % key, outcomes)
        lifetime = self._lifetime()
        return Operation(
            "touch",
            key,
            b"touch %b %d\r\n" % (key, lifetime.exptime),
            {b"TOUCHED": retime(lifetime), b"NOT_FOUND": remove},
        )

    def _set(self, key: bytes, before: Item | None) -> Operation:
        return self._store("set", key, b"STORED")

    def _add(self, key: bytes, before: Item | None) -> Operation:
        return self._store("add", key, b"STORED" if before is None else b"NOT_STORED")

    def _replace(self, key: bytes, before: Item | None) -> Operation:
        return self._store("replace", key, b"STORED" if before else b"NOT_STORED")

    def _cas(self, key: bytes, before: Item | None) -> Operation:
        if before is None:
            return self._store("cas", key, b"NOT_FOUND", cas=1)
        if before.cas is None:
            return self._gets(key, before)
        if self._chooser.random() < 0.2:
            return self._store("cas", key, b"EXISTS", cas=before.cas + 1_000_000_000)
        return self._store("cas", key, b"STORED", cas=before.cas)

    def _store(self, verb: str, key: bytes, reply: bytes, cas: int | None = None) -> Operation:
        data = self._new_data(key)
        flags = self._chooser.choice([0, 1, self._chooser.getrandbits(32), (1 << 32) - 1])
        lifetime = self._lifetime()
        stored = reply == b"STORED"
        effect = create(data, flags, lifetime) if stored else keep
        head = b"%b %b %d %d %d" % (verb.encode(), key, flags, lifetime.exptime, len(data))
        if cas is not None:
            head += b" %d" % cas
        request = b"%b\r\n%b\r\n" % (head, data)
        return Operation(verb, key, request, {reply: effect}, is_store=stored)

    def _concatenate(self, key: bytes, before: Item | None, verb: str = "append") -> Operation:
        longest = LONGEST_APPENDED_LARGE if key in self._large else LONGEST_APPENDED_SMALL
        more = self._chooser.randbytes(self._length_between(1, 2048))
        if before is not None and len(before.data) + len(more) > longest:
            return self._set(key, before)
        request = b"%b %b 5 0 %d\r\n%b\r\n" % (verb.encode(), key, len(more), more)
        if before is None:
            return Operation(verb, key, request, {b"NOT_STORED": keep})
        data = before.data + more if verb == "append" else more + before.data
        return Operation(verb, key, request, {b"STORED": rewrite(data)}, is_store=True)

    def _prepend(self, key: bytes, before: Item | None) -> Operation:
        return self._concatenate(key, before, verb="prepend")

    def _incr(self, key: bytes, before: Item | None) -> Operation:
        delta = self._chooser.choice([1, 1000, 1 << 40])
        return self._arithmetic("incr", key, before, delta, lambda old: old + delta)

    def _decr(self, key: bytes, before: Item | None) -> Operation:
        delta = self._chooser.choice([1, 999, 1 << 40])
        return self._arithmetic("decr", key, before, delta, lambda old: max(0, old - delta))

    def _arithmetic(
        self,
        verb: str,
        key: bytes,
        before: Item | None,
        delta: int,
        compute: Callable[[int], int],
    ) -> Operation:
        request = b"%b %b %d\r\n" % (verb.encode(), key, delta)
        if before is None:
            return Operation(verb, key, request, {b"NOT_FOUND": keep})
        data = b"%d" % compute(int(before.data))
        return Operation(verb, key, request, {data: rewrite(data)}, is_store=True)

    def _touch(self, key: bytes, before: Item | None) -> Operation:
        lifetime = self._lifetime()
        request = b"touch %b %d\r\n" % (key, lifetime.exptime)
        reply = b"NOT_FOUND" if before is None else b"TOUCHED"
        return Operation("touch", key, request, {reply: retime(lifetime) if before else keep})

    def _gat(self, key: bytes, before: Item | None) -> Operation:
        lifetime = self._lifetime()
        request = b"gats %d %b\r\n" % (lifetime.exptime, key)
        return Operation("gat", key, request, {b"END": retime(lifetime)}, is_read=True)

    def _delete(self, key: bytes, before: Item | None) -> Operation:
        reply = b"NOT_FOUND" if before is None else b"DELETED"
        return Operation("delete", key, b"delete %b\r\n" % key, {reply: remove})

    def _gets(self, key: bytes, before: Item | None) -> Operation:
        return Operation("gets", key, b"gets %b\r\n" % key, {b"END": keep}, is_read=True)

    def _new_data(self, key: bytes) -> bytes:
        if is_numeric(key):
            return b"%d" % self._chooser.getrandbits(self._chooser.randint(1, 62))
        return self._chooser.randbytes(
            self._length_between(*(LARGE_BYTES if key in self._large else SMALL_BYTES))
        )

    def _length_between(self, least: int, most: int) -> int:
        """Every order of magnitude alike."""
        return round(math.exp(self._chooser.uniform(math.log(least), math.log(most))))

    def _lifetime(self) -> Lifetime:
        choice = self._chooser.random()
        if choice < 0.70:
            return FOREVER
        if choice < 0.85:
            seconds = self._chooser.randint(3600, 86400)
            return Lifetime(seconds, seconds)
        if choice < 0.92:
            seconds = self._chooser.randint(3600, 86400)
            return Lifetime(int(time.time()) + seconds, seconds)
        if choice < 0.98:
            seconds = self._chooser.randint(1, 8)
            return Lifetime(seconds, seconds)
        return Lifetime(-1, 0)


def silence(operation: Operation) -> Operation:
    """The same command with noreply: acknowledged by the next reply on the connection."""
    line, end, rest = operation.request.partition(b"\r\n")
    return Operation(
        operation.verb,
        operation.key,
        line + b" noreply" + end + rest,
        operation.outcomes,
        is_store=operation.is_store,
        has_reply=False,
    )
