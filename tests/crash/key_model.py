"""What a client knows about its keys: the last acknowledged state, and what may have followed it.

A client sends operations in batches, so several may be in flight when the server dies. A key may
then be found in its acknowledged state or in the state after any operation in flight on it, and a
cut in the middle of a store may also leave a miss. Anything else is a violation.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from support.text_client import Value

# A server's clock ticks once a second, and a tick comes late on a busy machine: nothing is claimed
# about an item within this distance of its end.
CLOCK_SLACK_SECONDS = 2.5
LASTING_SECONDS = 60.0
REMEMBERED_VERSIONS = 100


class Presence(Enum):
    PRESENT = "present"
    ABSENT = "absent"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class Period:
    """When a request was sent and when its answer was there, in seconds since 1970."""

    sent: float
    done: float


@dataclass(frozen=True, slots=True)
class Item:
    """An item as it must be found; `cas` is None where the client has not read it yet."""

    data: bytes
    flags: int
    cas: int | None = None
    ends_after: float = math.inf  # present before this time, in seconds since 1970 ...
    ends_before: float = math.inf  # ... and absent after this one

    def presence(self, period: Period) -> Presence:
        """What a request of this period must see."""
        if period.done < self.ends_after:
            return Presence.PRESENT
        return Presence.ABSENT if period.sent > self.ends_before else Presence.EITHER

    def is_lasting(self, now: float) -> bool:
        return self.ends_after > now + LASTING_SECONDS


@dataclass(frozen=True, slots=True)
class Lifetime:
    """The exptime of a command and the seconds it means: infinite for 0, none below 0."""

    exptime: int
    seconds: float

    def give(self, item: Item, period: Period) -> Item | None:
        if self.exptime < 0:
            return None
        return replace(
            item,
            ends_after=period.sent + self.seconds - CLOCK_SLACK_SECONDS,
            ends_before=period.done + self.seconds + CLOCK_SLACK_SECONDS,
        )


FOREVER = Lifetime(0, math.inf)

# What a command does to the item of its key, from the item before and the time it ran.
Effect = Callable[[Item | None, Period], Item | None]


def keep(before: Item | None, period: Period) -> Item | None:
    return before


def remove(before: Item | None, period: Period) -> Item | None:
    return None


def create(data: bytes, flags: int, lifetime: Lifetime) -> Effect:
    """set, add, replace, cas: everything is new."""
    return lambda before, period: lifetime.give(Item(data, flags), period)


def rewrite(data: bytes) -> Effect:
    """append, prepend, incr, decr: flags and end stay."""
    return lambda before, period: before and replace(before, data=data, cas=None)


def retime(lifetime: Lifetime) -> Effect:
    """touch, gat: only the end is new."""
    return lambda before, period: before and lifetime.give(before, period)


@dataclass(frozen=True, slots=True)
class Operation:
    """One command on one key, and what each reply it may get says about the item.

    A read has the one outcome END; its values are judged against the item before it.
    """

    verb: str
    key: bytes
    request: bytes
    outcomes: dict[bytes, Effect]
    is_read: bool = False
    is_store: bool = False  # makes a new record, so that a cut may leave a miss
    has_reply: bool = True


@dataclass(frozen=True, slots=True)
class Violation:
    kind: str
    key: bytes
    details: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.key.decode()}: {self.details}"


class KeyModel:
    """The acknowledged state of every key of one client, and a memory of the versions before."""

    def __init__(self, keys: Iterable[bytes]) -> None:
        self.items: dict[bytes, Item | None] = dict.fromkeys(keys)
        self._versions: dict[bytes, deque[int]] = {
            key: deque(maxlen=REMEMBERED_VERSIONS) for key in self.items
        }
        self._highest_cas = dict.fromkeys(self.items, 0)

    def assign(self, key: bytes, item: Item | None) -> None:
        self.items[key] = item
        if item is not None:
            versions = self._versions[key]
            if not versions or versions[-1] != hash(item.data):
                versions.append(hash(item.data))
            self._highest_cas[key] = max(self._highest_cas[key], item.cas or 0)

    def forget_all(self) -> None:
        """What flush_all does."""
        self.items = dict.fromkeys(self.items)

    def candidates(
        self, key: bytes, in_flight: Iterable[Operation], period: Period
    ) -> list[Item | None]:
        """Every state the key may be in, the acknowledged one first, newest last."""
        states = [self.items[key]]
        for operation in in_flight:
            before = states[-1]
            states += [effect(before, period) for effect in operation.outcomes.values()]
            if operation.is_store and before is not None:
                states.insert(1, None)
        return states

    def judge(
        self, key: bytes, found: Value | None, states: Sequence[Item | None], period: Period
    ) -> Violation | None:
        """Compares what a read saw with what it may see, and takes over what it saw."""
        violation = self._find_violation(key, found, states, period)
        if found is None:
            self.items[key] = None
            return violation
        same = [state for state in states if state and is_same_data(key, found.data, state.data)]
        self.assign(
            key,
            Item(
                found.data,
                found.flags,
                found.cas,
                min((state.ends_after for state in same), default=math.inf),
                max((state.ends_before for state in same), default=math.inf),
            ),
        )
        return violation

    def _find_violation(
        self, key: bytes, found: Value | None, states: Sequence[Item | None], period: Period
    ) -> Violation | None:
        allowed = [
            state for state in states if state and state.presence(period) is not Presence.ABSENT
        ]
        if found is None:
            may_miss = len(allowed) < len(states) or any(
                state.presence(period) is Presence.EITHER for state in allowed
            )
            expected = describe(allowed)
            return None if may_miss else Violation("lost", key, f"a miss instead of {expected}")
        seen = f"found {describe([found])}"
        if not allowed:
            if any(state and is_same_data(key, found.data, state.data) for state in states):
                return Violation("outlived", key, f"{seen}, whose time is over")
            return Violation("resurrected", key, f"{seen}, but the key was removed")
        seen += f", expected {describe(allowed)}"
        same_data = [state for state in allowed if is_same_data(key, found.data, state.data)]
        if not same_data:
            kind = "stale" if hash(found.data) in self._versions[key] else "torn"
            return Violation(kind, key, seen)
        same_flags = [state for state in same_data if state.flags == found.flags]
        if not same_flags:
            return Violation("flags", key, seen)
        highest = self._highest_cas[key]
        if any(
            found.cas == state.cas or (state.cas is None and found.cas > highest)
            for state in same_flags
        ):
            return None
        return Violation("cas", key, f"{seen}; the highest CAS seen for the key is {highest}")


def is_numeric(key: bytes) -> bool:
    return key.startswith(b"number")


def is_same_data(key: bytes, found: bytes, expected: bytes) -> bool:
    """Byte by byte; the protocol lets decr pad a number that gets shorter with spaces."""
    if is_numeric(key):
        return found.rstrip(b" ") == expected.rstrip(b" ")
    return found == expected


def describe(states: Sequence[Item | Value]) -> str:
    """One short text for a handful of states."""
    return " or ".join(
        f"{len(state.data)} bytes {state.data[:24]!r} flags {state.flags} cas {state.cas}"
        for state in states[:4]
    )
