#!/usr/bin/env python3
"""Holds the sources to the layers of docs/architecture.md.

1. A folder includes only itself and the folders listed beside it in ALLOWED.
2. Only pmem/ includes headers of PMDK and ndctl.
3. Only pmem/persister.cc makes anything durable. (Tests replace PMDK's functions to cut the power.)
4. No header includes itself through others.

Prints each violation as file:line and exits with 1 if there are any.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folder -> the folders it may include besides itself. A folder stands for the files directly in it
# and for those of its subfolders that have no line of their own.
ALLOWED = {
    "pmem": set(),
    "engine": {"pmem"},
    "engine/reclaim": {"pmem"},
    "server/protocol": set(),
    "server/commands": {"server/protocol", "engine", "pmem"},
    "server/net": {"server/commands", "engine", "pmem"},
    "server/config": {"pmem"},
    "server/runtime": {"server/config", "server/net", "server/commands", "engine", "pmem"},
    "server": {"server/runtime", "server/config", "server/net", "server/commands", "engine", "pmem"},
    "bench": {"server", "engine", "pmem"},
    "tests": {"server", "engine", "pmem"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
PMEM_LIBRARY = re.compile(r"^(libpmem|ndctl/|daxctl/)")
DURABILITY = re.compile(
    r"\b(pmem_(?:flush|deep_flush|drain|deep_drain|persist|deep_persist|msync"
    r"|memcpy\w*|memmove\w*|memset\w*)|pmemobj_(?:persist|flush|drain|mem\w+)|msync)\s*\("
)
DURABILITY_FILE = "pmem/persister.cc"
# Tests also make pools of other programs.
MAY_USE_PMDK = ("pmem/", "tests/")
MAY_NAME_DURABILITY = (DURABILITY_FILE, "tests/")


def folder_of(path):
    """The longest key of ALLOWED that holds the path; None for a file outside of them."""
    parts = path.split("/")[:-1]
    while parts:
        folder = "/".join(parts)
        if folder in ALLOWED:
            return folder
        parts.pop()
    return None


def may_include(source, target):
    """Whether the folder `source` may include from `target`, or from a folder above it."""
    if source == target or target in ALLOWED[source]:
        return True
    return any(target.startswith(allowed + "/") for allowed in ALLOWED[source] | {source})


def sources():
    for top in sorted({folder.split("/")[0] for folder in ALLOWED}):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in (".h", ".cc"):
                yield path.relative_to(ROOT).as_posix()


def violations_of(path, lines, includes):
    """The violations in one file; also collects what it includes."""
    folder = folder_of(path)
    for number, line in enumerate(lines, 1):
        where = f"{path}:{number}"
        match = INCLUDE.match(line)
        if match and match[1] == '"':
            target = folder_of(match[2])
            includes.append(match[2])
            if target is None:
                yield f"{where}: {match[2]} is not named from the root of the repository"
            elif not may_include(folder, target):
                yield f"{where}: {folder}/ must not include {target}/ ({match[2]})"
        elif match and PMEM_LIBRARY.match(match[2]) and not path.startswith(MAY_USE_PMDK):
            yield f"{where}: only pmem/ may include <{match[2]}>"
        code = line.split("//")[0]
        call = DURABILITY.search(code)
        if call and not path.startswith(MAY_NAME_DURABILITY):
            yield f"{where}: only {DURABILITY_FILE} may call {call[1]}()"


def include_cycles(graph):
    """One line for each cycle found by a depth-first walk."""
    done, path = set(), []

    def visit(node):
        if node in path:
            yield "include cycle: " + " -> ".join(path[path.index(node) :] + [node])
            return
        if node in done:
            return
        path.append(node)
        for target in graph.get(node, ()):
            yield from visit(target)
        path.pop()
        done.add(node)

    for node in graph:
        yield from visit(node)


def main():
    graph, problems = {}, []
    for path in sources():
        includes = graph.setdefault(path, [])
        lines = (ROOT / path).read_text().splitlines()
        problems.extend(violations_of(path, lines, includes))
    problems.extend(include_cycles(graph))
    for problem in problems:
        print(problem)
    print(f"layers: {len(graph)} files, {len(problems)} violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
