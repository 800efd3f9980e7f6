#!/usr/bin/env bash
# Checks the sources, builds and runs all tests: optimised, under AddressSanitizer and under
# ThreadSanitizer.
#   --quick   the optimised build only
#   --soak    afterwards, in the optimised build: the randomised tests with ten times the rounds, and
#             500 rounds of the kill loop
set -euo pipefail
cd "$(dirname "$0")/.."

presets=(release asan tsan)
soak=false
for argument in "$@"; do
  case "$argument" in
    --quick) presets=(release) ;;
    --soak) soak=true ;;
    *)
      echo "usage: $0 [--quick] [--soak]" >&2
      exit 64
      ;;
  esac
done

scripts/setup.sh test
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
jobs=$(nproc)
mkdir -p build
summaries=()
failed=0

# Runs a step and remembers its result; the steps after it run all the same.
step() {
  local name=$1 log="build/$1.log" result=ok
  shift
  echo "=== $name"
  if ! "$@" 2>&1 | tee "$log"; then
    result=FAILED
    failed=1
  fi
  # CTest's own summary says more.
  summaries+=("$name: $result $(grep -E '% tests passed' "$log" | tail -1 || true)")
}

# shellcheck disable=SC2317  # step calls it
build() {
  cmake --preset "$1" && cmake --build --preset "$1" --parallel "$jobs"
}

step layers scripts/check_layers.py
for preset in "${presets[@]}"; do
  step "build-$preset" build "$preset"
  if [[ $preset == release ]]; then
    step headers scripts/check_headers.py build/release
    step format scripts/check_format.sh
  fi
  step "tests-$preset" ctest --preset "$preset" --parallel "$jobs" --no-tests=error
done

if $soak; then
  PMCACHED_SOAK=10 step tests-soak ctest --preset release --tests-regex '^(model|stress|crash|wire):'
  PMEM_IS_PMEM_FORCE=1 step kill-loop-soak tests/crash/kill_loop.py --rounds 500 \
    --binary build/release/pmcached
fi

echo "=== summary"
printf '%s\n' "${summaries[@]}"
exit "$failed"
