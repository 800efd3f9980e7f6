#!/usr/bin/env bash
# Stores every record of Debian's package index, kills the server in the middle of further writes,
# starts it again and compares every value, beside memcached -e. Options: see --help.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

if ! command -v memcached >/dev/null; then
  echo "demo_warm_restart: memcached is not installed: apt-get install memcached" >&2
  exit 1
fi
if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
  if [ "$(id -u)" -eq 0 ]; then apt-get update; else sudo apt-get update; fi
fi
if [ ! -x build/release/pmcached ]; then
  cmake --preset release
  cmake --build --preset release --target pmcached
fi
venv="build/demo-venv"
if [ ! -x "$venv/bin/python" ]; then
  python3 -m venv "$venv"
fi
"$venv/bin/python" -m pip install --quiet 'pymemcache==4.0.0'
exec "$venv/bin/python" scripts/demo_warm_restart.py "$@"
