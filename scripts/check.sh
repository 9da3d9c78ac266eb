#!/usr/bin/env bash
# Everything that is checked without running the programs: formatting, lint, types, shell, direction of #includes.
# Usage: scripts/check.sh [--tidy]
# clang-tidy runs where build/ is built: over the houses without MLIR, which takes a minute; with --tidy over all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=.venv/bin
[[ -x $venv/ruff ]] && PATH=$PWD/$venv:$PATH

mapfile -t cxx < <(git ls-files '*.cpp' '*.h' '*.c')
clang-format-22 --dry-run --Werror "${cxx[@]}"
ruff format --check .
ruff check .
mypy conquer-search/python/conquer
mapfile -t shell < <(git ls-files '*.sh' .ci/run)
shellcheck "${shell[@]}"
python3 scripts/check_direction.py
if [[ -e build/compile_commands.json ]]; then
  houses=(support hardware conquer-search)
  [[ ${1:-} == --tidy ]] && houses+=(conquer-opt)
  mapfile -t tidy < <(git ls-files "${houses[@]/%//*.cpp}" ':!*Test.cpp')
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  run-clang-tidy-22 -quiet -p build "${tidy[@]/#/^$PWD/}" >"$log" 2>&1 ||
    { grep -E 'error:|warning:' "$log" || tail "$log"; exit 1; }
fi
echo "checks: fine"
