#!/usr/bin/env bash
# Installs what is missing on Debian 12. Groups: "build" (to build and run the server, the default)
# and "test" (in addition, what scripts/test.sh needs).
set -euo pipefail

build_packages=(
  clang-14 cmake ninja-build pkg-config
  libpmem-dev libpmemobj-dev libndctl-dev libdaxctl-dev libisal-dev
  libevent-dev libfmt-dev libspdlog-dev libcli11-dev libxxhash-dev
  catch2 libbenchmark-dev python3
)
test_packages=(
  clang-format-14 clang-tidy-14 libclang-rt-14-dev llvm-14
  git memcached ndctl python3-venv shellcheck
)
# For what run.sh and the README suggest to try; any variant of it will do.
command -v nc >/dev/null || build_packages+=(netcat-openbsd)
# Toolchains of the stock clients; what is there already, from wherever, will do.
command -v npm >/dev/null || test_packages+=(nodejs npm)
command -v javac >/dev/null || test_packages+=(default-jdk-headless)
command -v mvn >/dev/null || test_packages+=(maven)
command -v go >/dev/null || test_packages+=(golang-go)

case "${1:-build}" in
  build) packages=("${build_packages[@]}") ;;
  test) packages=("${build_packages[@]}" "${test_packages[@]}") ;;
  *)
    echo "usage: $0 [build|test]" >&2
    exit 64
    ;;
esac

missing=()
for package in "${packages[@]}"; do
  # Only "ii" is there with its files; a removed package may still be known.
  if [[ "$(dpkg-query --show --showformat='${db:Status-Abbrev}' "$package" 2>/dev/null)" != ii* ]]; then
    missing+=("$package")
  fi
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

as_root=()
if [[ $EUID -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "setup.sh: these packages are missing, and installing them takes root: ${missing[*]}" >&2
    exit 77
  fi
  as_root=(sudo)
fi
echo "setup.sh: installing ${missing[*]}"
"${as_root[@]}" apt-get update --quiet=2
# memcached is wanted as a program to compare with, not as a service that takes port 11211.
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
  apt-get install --quiet=2 --yes --no-install-recommends "${missing[@]}" </dev/null
