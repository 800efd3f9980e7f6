#!/usr/bin/env bash
# Holds the sources to .clang-format and .clang-tidy, and the scripts to shellcheck. clang-tidy looks
# at the .cc files that differ from origin/main (without that branch: from the last commit), or at
# all of them with --all. Needs a configured build in build/release, or the folder given as --build.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build/release
all=false
while [[ $# -gt 0 ]]; do
  case "$1" in
    --all) all=true ;;
    --build)
      build=${2:?"--build needs a folder"}
      shift
      ;;
    *)
      echo "usage: $0 [--all] [--build FOLDER]" >&2
      exit 64
      ;;
  esac
  shift
done

mapfile -t sources < <(find pmem engine server bench tests -name '*.cc' -o -name '*.h' | sort)
clang-format-14 --dry-run --Werror "${sources[@]}"
mapfile -t shell_scripts < <(find scripts .ci -type f -exec grep -lE '^#!.*\b(ba)?sh$' {} + | sort)
shellcheck "${shell_scripts[@]}"

changed_files() {
  local base
  base=$(git merge-base HEAD origin/main 2>/dev/null) || base=HEAD
  if [[ "$base" == "$(git rev-parse HEAD)" ]] && git diff --quiet HEAD; then
    base=$(git rev-parse --verify --quiet HEAD~1 || git rev-parse HEAD)
  fi
  git diff --name-only --diff-filter=d "$base"
  git ls-files --others --exclude-standard
}

if $all; then
  mapfile -t to_check < <(printf '%s\n' "${sources[@]}" | grep '\.cc$')
else
  mapfile -t to_check < <(changed_files | grep -E '^(pmem|engine|server|bench|tests)/.*\.cc$' || true)
fi
echo "clang-tidy: ${#to_check[@]} files"
if [[ ${#to_check[@]} -gt 0 ]]; then
  printf '%s\0' "${to_check[@]}" |
    xargs -0 --max-args=1 --max-procs="$(nproc)" clang-tidy-14 -p "$build" --quiet 2>/dev/null
fi
