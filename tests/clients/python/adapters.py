"""The stock Python clients behind one interface, so that one list of scenarios drives them all.

Refused stores and missing keys come back as False or None, whatever the client itself does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any


class Unsupported(Exception):
    """This client has no such call."""


def as_text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


class Adapter:
    """What most clients agree on; `client` is the stock client."""

    client: Any

    def set(self, key: str, value: bytes, expire: int = 0) -> bool:
        return bool(self.client.set(key, value, expire))

    def set_noreply(self, key: str, value: bytes) -> None:
        self.client.set(key, value, noreply=True)

    def add(self, key: str, value: bytes) -> bool:
        return bool(self.client.add(key, value))

    def replace(self, key: str, value: bytes) -> bool:
        return bool(self.client.replace(key, value))

    def append(self, key: str, value: bytes) -> bool:
        return bool(self.client.append(key, value))

    def prepend(self, key: str, value: bytes) -> bool:
        return bool(self.client.prepend(key, value))

    def get(self, key: str) -> Any:
        return self.client.get(key)

    def get_many(self, keys: list[str]) -> dict[str, Any]:
        return dict(self.client.get_multi(keys))

    def gets(self, key: str) -> tuple[Any, Any]:
        value, token = self.client.gets(key)
        return value, token

    def cas(self, key: str, value: bytes, token: Any) -> bool:
        return bool(self.client.cas(key, value, token))

    def incr(self, key: str, delta: int) -> int | None:
        value = self.client.incr(key, delta)
        return None if value is None else int(value)

    def decr(self, key: str, delta: int) -> int | None:
        value = self.client.decr(key, delta)
        return None if value is None else int(value)

    def touch(self, key: str, expire: int) -> bool:
        return bool(self.client.touch(key, expire))

    def delete(self, key: str) -> bool:
        return bool(self.client.delete(key))

    def flush_all(self) -> None:
        self.client.flush_all()

    def stats(self) -> dict[str, str]:
        [(_, stats)] = self.client.get_stats()
        return {as_text(name): as_text(value) for name, value in stats.items()}

    def version(self) -> str:
        return self.stats()["version"]

    def round_trip(self, key: str, value: Any) -> Any:
        """Stores a value whose type the client keeps in the flags, and reads it back."""
        self.client.set(key, value)
        return self.client.get(key)


class Pymemcache(Adapter):
    def __init__(self, host: str, port: int) -> None:
        from pymemcache.client.base import Client
        from pymemcache.serde import pickle_serde

        self.client = Client((host, port), default_noreply=False)
        self._pickling = Client((host, port), default_noreply=False, serde=pickle_serde)

    def get_many(self, keys: list[str]) -> dict[str, Any]:
        return dict(self.client.get_many(keys))

    def stats(self) -> dict[str, str]:
        return {as_text(name): as_text(value) for name, value in self.client.stats().items()}

    def version(self) -> str:
        return as_text(self.client.version())

    def round_trip(self, key: str, value: Any) -> Any:
        self._pickling.set(key, value)
        return self._pickling.get(key)


class PythonMemcached(Adapter):
    def __init__(self, host: str, port: int) -> None:
        import memcache

        self.client = memcache.Client([f"{host}:{port}"], cache_cas=True)

    def gets(self, key: str) -> tuple[Any, Any]:
        value = self.client.gets(key)
        return value, self.client.cas_ids.get(key)

    def cas(self, key: str, value: bytes, token: Any) -> bool:
        self.client.cas_ids[key] = token
        return bool(self.client.cas(key, value))

    def delete(self, key: str) -> bool:
        """The client calls a missing key deleted, too, so ask before."""
        found = self.client.get(key) is not None
        return bool(self.client.delete(key)) and found


class Pylibmc(Adapter):
    def __init__(self, host: str, port: int) -> None:
        import pylibmc

        self.client = pylibmc.Client([f"{host}:{port}"], binary=False, behaviors={"cas": True})
        self._not_found = pylibmc.NotFound

    def set_noreply(self, key: str, value: bytes) -> None:
        raise Unsupported("pylibmc has no noreply for single calls")

    def cas(self, key: str, value: bytes, token: Any) -> bool:
        try:
            return super().cas(key, value, token)
        except self._not_found:
            return False

    def incr(self, key: str, delta: int) -> int | None:
        try:
            return super().incr(key, delta)
        except self._not_found:
            return None

    def decr(self, key: str, delta: int) -> int | None:
        try:
            return super().decr(key, delta)
        except self._not_found:
            return None


class Synchronous:
    """Runs the coroutines of aiomcache to their end, with keys as bytes and None for NOT_FOUND."""

    def __init__(self, client: Any, error: type[Exception]) -> None:
        self._client = client
        self._error = error
        self._loop = asyncio.new_event_loop()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)

        def call(*arguments: Any) -> Any:
            if arguments and isinstance(arguments[0], str):
                arguments = (arguments[0].encode(), *arguments[1:])
            try:
                return self._loop.run_until_complete(method(*arguments))
            except self._error as error:
                if "NOT_FOUND" not in str(error):
                    raise
                return None

        return call


class Aiomcache(Adapter):
    """Flags are the caller's business here: these two handlers keep whole numbers."""

    NUMBER_FLAG = 77

    def __init__(self, host: str, port: int) -> None:
        import aiomcache

        async def decode(data: bytes, flags: int) -> int | bytes:
            return int(data) if flags == self.NUMBER_FLAG else data

        async def encode(value: Any) -> tuple[bytes, int]:
            return str(value).encode(), self.NUMBER_FLAG

        client = aiomcache.FlagClient(host, port, get_flag_handler=decode, set_flag_handler=encode)
        self.client = Synchronous(client, aiomcache.ClientException)

    def set_noreply(self, key: str, value: bytes) -> None:
        raise Unsupported("aiomcache has no noreply")

    def get_many(self, keys: list[str]) -> dict[str, Any]:
        values = self.client.multi_get(*(key.encode() for key in keys))
        pairs = zip(keys, values, strict=True)
        return {key: value for key, value in pairs if value is not None}

    def stats(self) -> dict[str, str]:
        return {as_text(name): as_text(value) for name, value in self.client.stats().items()}

    def version(self) -> str:
        return as_text(self.client.version())


ADAPTERS: dict[str, Callable[[str, int], Adapter]] = {
    "pymemcache": Pymemcache,
    "python-memcached": PythonMemcached,
    "pylibmc": Pylibmc,
    "aiomcache": Aiomcache,
}
