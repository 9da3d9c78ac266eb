#!/usr/bin/env bash
# Latency and accuracy drop of each policy of the front beside f32 and uniform i8.
# Usage: scripts/03_evaluate_policies.sh [FOLDER] [--gens N] [options of `conquer evaluate`]
# --gens N takes the front as it stood after generation N; default: the last. Default folder: runs/resnet
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [[ ${1:-} == -h || ${1:-} == --help ]]; then sed -n '2,4s/^# //p' "$0" && exit 0; fi
folder=runs/resnet
if [[ $# -gt 0 && $1 != -* ]]; then folder=$1 && shift; fi
exec .venv/bin/conquer evaluate "$folder" "$@"
