#!/usr/bin/env bash
# Builds pmcached and starts it in the foreground, on a pool in RAM that stands in for persistent
# memory: the cache outlives the server, but not the machine. Arguments go to pmcached; say
# "-e FILE -m MEBIBYTES" for another pool, "-p PORT" for another port than 11211.
set -euo pipefail
cd "$(dirname "$0")/.."

pool=/dev/shm/pmcached.pool
mebibytes=1024

scripts/setup.sh build
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
cmake --preset release >/dev/null
cmake --build --preset release --target pmcached

arguments=(-e "$pool" -m "$mebibytes")
if [[ $EUID -eq 0 ]]; then
  arguments+=(-u root)
fi

cat <<EOF

pmcached starts now. In another terminal, try:

  printf 'set greeting 0 0 5\r\nhello\r\nquit\r\n' | nc 127.0.0.1 11211
  pkill -9 pmcached; scripts/run.sh            # kill it the hard way and start it again
  printf 'get greeting\r\nquit\r\n' | nc 127.0.0.1 11211

Ctrl-C stops it. The cache stays in $pool; remove that file to start empty.
build/release/pmcached -h lists all options.

EOF
PMEM_IS_PMEM_FORCE=1 exec build/release/pmcached "${arguments[@]}" "$@"
