#!/usr/bin/env bash
# Compiles the policies of the front, f32 and uniform i8 to checked IREE modules.
# Usage: scripts/02_compile_policies.sh [FOLDER] [options of `conquer compile`]   Default folder: runs/resnet
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [[ ${1:-} == -h || ${1:-} == --help ]]; then sed -n '2,3s/^# //p' "$0" && exit 0; fi
folder=runs/resnet
if [[ $# -gt 0 && $1 != -* ]]; then folder=$1 && shift; fi
exec .venv/bin/conquer compile "$folder" "$@"
