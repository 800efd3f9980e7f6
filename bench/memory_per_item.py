#!/usr/bin/env python3
"""DRAM and pool bytes per item of pmcached -e, beside memcached's DRAM, for several value sizes.

DRAM: anonymous resident memory after loading minus that of the empty server, per item. Pool: the
slab memory taken from the pool, per item. Payload: key and value.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from bulk_load import KEY_BYTES, load, pool_mib
from support.report import format_table
from support.server_process import DEFAULT_BINARY, ServerFailed, ServerProcess, pool_file

MEMCACHED = Path("/usr/bin/memcached")


def measure(server: ServerProcess, items: int, value_bytes: int) -> list[str]:
    """One row of the table; the server is started and stopped."""
    server.start()
    try:
        baseline = server.memory().anonymous
        load(server, items, value_bytes)
        memory = server.memory()
        with server.connect() as connection:
            slab_bytes = int(connection.stats(b"slabs")["total_malloced"])
    finally:
        server.ensure_stopped()
    payload = KEY_BYTES + value_bytes
    in_dram = (memory.anonymous - baseline) / items
    in_pool = slab_bytes / items if server.pool else 0.0
    return [
        f"{server.name}{' -e' if server.pool else ''}, {value_bytes} bytes",
        str(items),
        str(payload),
        f"{in_dram:.1f}",
        f"{in_pool:.1f}",
        f"{in_dram + in_pool - payload:.1f}",
        f"{baseline / (1 << 20):.1f}",
    ]


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, default=DEFAULT_BINARY)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--value-bytes", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--pool-dir", type=Path, default=Path("/dev/shm"))
    return parser.parse_args()


def main() -> int:
    options = parse_options()
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory(prefix="memory-") as folder:
        log = Path(folder) / "server.log"
        for value_bytes in options.value_bytes:
            mib = pool_mib(options.items, value_bytes)
            try:
                with pool_file(options.pool_dir, "memory") as pool:
                    persistent = ServerProcess(options.binary, mib, log, pool)
                    rows.append(measure(persistent, options.items, value_bytes))
                volatile = ServerProcess(MEMCACHED, mib, log)
                rows.append(measure(volatile, options.items, value_bytes))
            except ServerFailed as error:
                print(f"the run failed: {error}", file=sys.stderr)
                return 2
    headings = [
        "server, value",
        "items",
        "payload B",
        "DRAM B",
        "pool B",
        "overhead B",
        "empty MiB",
    ]
    print(format_table(headings, rows))
    print("bytes per item; overhead: DRAM and pool less payload; empty: DRAM of the empty server")
    return 0


if __name__ == "__main__":
    sys.exit(main())
