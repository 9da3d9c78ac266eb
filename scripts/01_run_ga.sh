#!/usr/bin/env bash
# The main job: sets up what is missing, takes the example network from ONNX to a measured Pareto front.
# Usage: scripts/01_run_ga.sh [options of `conquer run`]   Example: scripts/01_run_ga.sh --seed 2 --out runs/seed2
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [[ ${1:-} == -h || ${1:-} == --help ]]; then sed -n '2,3s/^# //p' "$0" && exit 0; fi
scripts/00_setup.sh
exec .venv/bin/conquer run examples/resnet/resnet18_fashion.onnx --data examples/resnet/data.json --out runs/resnet \
  --profile host --generations 10 --seed 1 "$@"
