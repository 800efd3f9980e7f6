#!/usr/bin/env python3
"""Runs the scenarios of the stock memcached clients of four languages against one server.

Each client's package comes from its language's registry into a cache folder under build/. A client
whose toolchain is not on this machine is left out, unless --require names it. Exit code 1 when a
client saw a difference to memcached or a required one could not run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.report import format_table
from support.server_process import DEFAULT_BINARY, REPOSITORY, ServerProcess, pool_file

FOLDER = Path(__file__).resolve().parent
SCENARIOS_TIMEOUT_SECONDS = 120
PREPARE_TIMEOUT_SECONDS = 600
POOL_MIB = 64


@dataclass(frozen=True)
class Client:
    """`prepare` installs and builds into its cache folder and returns the command to run.

    HOST and PORT are appended to the command, as HOST:PORT where `joined_address` says so.
    """

    name: str
    tools: tuple[str, ...]
    prepare: Callable[[Path], list[str]]
    joined_address: bool = False
    environment: Callable[[Path], dict[str, str]] = lambda cache: {}


@dataclass(frozen=True)
class Result:
    client: str
    outcome: str
    passed: int
    seconds: float
    remarks: str


def execute(command: list[str | Path], folder: Path) -> None:
    """Runs one preparation step; its output is shown only if it fails."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=PREPARE_TIMEOUT_SECONDS
    )
    if done.returncode != 0:
        shown = " ".join(map(str, command))
        raise OSError(
            f"{shown} ended with {done.returncode}: {(done.stderr or done.stdout)[-800:]}"
        )


def prepare_python(cache: Path) -> Path:
    """A virtual environment that holds all the Python clients; returns its interpreter."""
    interpreter = cache / "bin" / "python"
    if not interpreter.exists():
        execute(["python3", "-m", "venv", cache], cache.parent)
    requirements = FOLDER / "python" / "requirements.txt"
    execute([interpreter, "-m", "pip", "install", "--quiet", "-r", requirements], cache)
    return interpreter


def python_client(name: str) -> Client:
    def prepare(cache: Path) -> list[str]:
        interpreter = prepare_python(cache.parent / "python")
        return [str(interpreter), str(FOLDER / "python" / "scenarios.py"), name]

    return Client(name, ("python3",), prepare)


def prepare_node(cache: Path) -> list[str]:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(FOLDER / "node" / name, cache)
    execute(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cache)
    return ["node", str(FOLDER / "node" / "scenarios.js")]


def prepare_java(cache: Path) -> list[str]:
    library, classes = cache / "lib", cache / "classes"
    plugin = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
    pom = FOLDER / "java" / "pom.xml"
    execute(["mvn", "-B", "-q", "-f", pom, plugin, f"-DoutputDirectory={library}"], cache)
    source = FOLDER / "java" / "Scenarios.java"
    execute(["javac", "-encoding", "UTF-8", "-cp", f"{library}/*", "-d", classes, source], cache)
    return ["java", "-cp", f"{library}/*:{classes}", "Scenarios"]


def prepare_go(cache: Path) -> list[str]:
    execute(["go", "build", "-buildvcs=false", "-o", cache / "scenarios", "."], FOLDER / "go")
    return [str(cache / "scenarios")]


CLIENTS = [
    python_client("pymemcache"),
    python_client("python-memcached"),
    python_client("pylibmc"),
    python_client("aiomcache"),
    Client(
        "node-memcached",
        ("node", "npm"),
        prepare_node,
        environment=lambda cache: {"NODE_PATH": str(cache / "node_modules")},
    ),
    Client("spymemcached", ("java", "javac", "mvn"), prepare_java),
    Client("gomemcache", ("go",), prepare_go, joined_address=True),
]


def run_client(client: Client, cache: Path, server: ServerProcess, required: bool) -> Result:
    missing = [tool for tool in client.tools if shutil.which(tool) is None]
    if missing:
        outcome = "FAILED" if required else "left out"
        return Result(client.name, outcome, 0, 0.0, f"no {' and no '.join(missing)} here")
    cache.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    try:
        command = client.prepare(cache)
        begun = time.monotonic()
        address = ["127.0.0.1", str(server.port)]
        done = subprocess.run(
            [*command, *([":".join(address)] if client.joined_address else address)],
            env=os.environ | client.environment(cache),
            capture_output=True,
            text=True,
            timeout=SCENARIOS_TIMEOUT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Result(client.name, "FAILED", 0, time.monotonic() - begun, str(error))
    lines = done.stdout.splitlines()
    passed = sum(line.startswith("ok ") for line in lines)
    remarks = [line for line in lines if not line.startswith("ok ")]
    if done.returncode != 0:
        remarks.append(done.stderr[-800:])
    outcome = "passed" if done.returncode == 0 and passed > 0 else "FAILED"
    return Result(client.name, outcome, passed, time.monotonic() - begun, "; ".join(remarks))


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default_server = Path(os.environ.get("PMCACHED_BINARY", DEFAULT_BINARY))
    parser.add_argument("--server", type=Path, default=default_server)
    parser.add_argument("--cache", type=Path, default=REPOSITORY / "build" / "clients")
    parser.add_argument("--pool-dir", type=Path, default=Path("/dev/shm"))
    parser.add_argument(
        "--require",
        default="",
        help="clients, with commas between them, that must run; all for every one",
    )
    parser.add_argument("clients", nargs="*", help="only these; default: all")
    return parser.parse_args()


def main() -> int:
    options = parse_options()
    names = [client.name for client in CLIENTS]
    required = names if options.require == "all" else options.require.split(",")
    results: list[Result] = []
    with (
        tempfile.TemporaryDirectory(prefix="clients-") as folder,
        pool_file(options.pool_dir, "clients") as pool,
    ):
        log = Path(folder) / "server.log"
        server = ServerProcess(options.server, POOL_MIB, log, pool)
        server.start()
        try:
            for client in CLIENTS:
                if not options.clients or client.name in options.clients:
                    print(f"{client.name} ...", file=sys.stderr, flush=True)
                    cache = options.cache / client.name
                    results.append(run_client(client, cache, server, client.name in required))
        finally:
            server.ensure_stopped()
    rows = [
        [result.client, result.outcome, str(result.passed), f"{result.seconds:.1f}"]
        for result in results
    ]
    print(format_table(["client", "result", "scenarios", "seconds"], rows))
    for result in results:
        if result.remarks:
            print(f"{result.client}: {result.remarks}")
    failed = sum(result.outcome == "FAILED" for result in results)
    print(f"{sum(result.outcome == 'passed' for result in results)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
