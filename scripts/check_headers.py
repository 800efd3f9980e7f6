#!/usr/bin/env python3
"""Compiles every header on its own, with the flags the build uses for its layer.

Usage: check_headers.py BUILD_FOLDER, which must be configured with compile commands exported.
"""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("pmem", "engine", "server", "bench", "tests")


def flags_by_folder(build):
    """The compile flags of one source of each folder, without input and output."""
    flags = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"]).resolve()
        if not source.is_relative_to(ROOT):
            continue
        words = shlex.split(entry["command"])
        compiler = next(i for i, word in enumerate(words) if "clang" in os.path.basename(word))
        end = words.index("-o")
        flags.setdefault(source.relative_to(ROOT).parts[0], words[compiler:end])
    return flags


def compile_alone(header, flags):
    command = flags + ["-fsyntax-only", "-Wno-pragma-once-outside-header", "-x", "c++", header]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return result.returncode == 0, result.stderr


def main():
    if len(sys.argv) != 2:
        print(f"usage: {sys.argv[0]} BUILD_FOLDER", file=sys.stderr)
        return 64
    flags = flags_by_folder(pathlib.Path(sys.argv[1]))
    headers = [
        path.relative_to(ROOT).as_posix()
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.h"))
        if folder in flags
    ]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(compile_alone, header, flags[header.split("/")[0]]) for header in headers]
        for header, job in zip(headers, jobs):
            compiled, message = job.result()
            if not compiled:
                failures += 1
                print(f"{header} does not compile alone:\n{message}")
    print(f"headers: {len(headers)} compiled alone, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
