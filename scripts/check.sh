#!/usr/bin/env bash
# Everything that is checked without running the programs: formatting, lint, types, shell, direction of #includes.
# Usage: scripts/check.sh [--tidy]   (--tidy adds clang-tidy over our C++ files; it needs a configured build/)
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
if [[ ${1:-} == --tidy ]]; then
  mapfile -t tidy < <(git ls-files '*.cpp' ':!*Test.cpp' ':!bench/*')
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  run-clang-tidy-22 -quiet -p build "${tidy[@]/#/^$PWD/}" >"$log" 2>&1 ||
    { grep -E 'error:|warning:' "$log" || tail "$log"; exit 1; }
fi
echo "checks: fine"
