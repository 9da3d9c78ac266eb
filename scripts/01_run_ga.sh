#!/usr/bin/env bash
# The main job: sets up what is missing, takes an example network from ONNX to a measured Pareto front.
# Usage: scripts/01_run_ga.sh [resnet|mobilenet|efficientnet] [options of `conquer run`]
# Examples: scripts/01_run_ga.sh; scripts/01_run_ga.sh --seed 2 --out runs/seed2; scripts/01_run_ga.sh mobilenet
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [[ ${1:-} == -h || ${1:-} == --help ]]; then sed -n '2,4s/^# //p' "$0" && exit 0; fi
example=resnet
if [[ $# -gt 0 && $1 != -* ]]; then example=$1 && shift; fi
data=examples/$example/data.json preprocess=examples/$example/preprocess.json
case $example in
  resnet) scripts/00_setup.sh && model=examples/resnet/resnet18_fashion.onnx ;;
  mobilenet) scripts/00_setup.sh && model=examples/mobilenet/mobilenetv2_fashion.onnx ;;
  efficientnet)
    scripts/00_setup.sh --efficientnet
    folder=runs/efficientnet-lite0
    model=$folder/efficientnet_lite0.onnx data=$folder/data
    [[ -e $model ]] || .venv/bin/python examples/efficientnet/convert.py --out "$folder"
    [[ -e $data/data.json ]] || .venv/bin/python examples/efficientnet/photographs.py --out "$data"
    ;;
  *) echo "01_run_ga.sh: unknown example '$example'; see --help" >&2 && exit 2 ;;
esac
exec .venv/bin/conquer run "$model" --data "$data" --preprocess "$preprocess" --out "runs/$example" \
  --profile host --generations 10 --seed 1 "$@"
