#!/usr/bin/env bash
# Sets up what is missing: system packages, .venv, the three programs in build/, the `conquer` command.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'TEXT'
Usage: scripts/00_setup.sh [--test] [--docker] [--vulkan] [--cuda] [--rocm] [--aarch64] [--efficientnet]

Sets up CONQuER on Debian 12 (amd64): system packages, .venv, build/, the conquer command. Does only what is missing.

  --test     build and run every test too (GoogleTest, lit, pytest)
  --docker   build the image conquer:latest instead; nothing is set up on this machine
  --vulkan   install a Vulkan loader and Mesa's drivers (lavapipe runs on the CPU)
  --cuda     say what an NVIDIA GPU needs at run time
  --rocm     say what an AMD GPU needs at run time
  --aarch64  install qemu and the AArch64 runtime of IREE, to run modules of that architecture here
  --efficientnet  install what examples/efficientnet needs: the weights and photographs (about 150 MB)
The IREE wheel holds the compiler backends for all of these already.
TEXT
}

packages=(
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22 clang-format-22 clang-tidy-22
  nlohmann-json3-dev libcli11-dev libsqlite3-dev libeigen3-dev libgtest-dev libgmock-dev
  protobuf-compiler libprotobuf-dev libonnx-dev zlib1g-dev libzstd-dev
  cmake ninja-build shellcheck python3-venv dataset-fashion-mnist
)
test=0 docker=0 efficientnet=0 devices=()
for argument in "$@"; do
  case $argument in
    --test) test=1 ;;
    --efficientnet) efficientnet=1 ;;
    --docker) docker=1 ;;
    --vulkan | --cuda | --rocm | --aarch64) devices+=("${argument#--}") ;;
    -h | --help) usage && exit 0 ;;
    *) echo "00_setup.sh: unknown option '$argument'; see --help" >&2 && exit 2 ;;
  esac
done

say() { echo "== $*"; }
as_root() { if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi; }

# install PACKAGES...: those that are missing, through apt-get.
install() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
  done
  [[ ${#missing[@]} == 0 ]] && return
  # shellcheck source=/dev/null
  if [[ $(uname -m) != x86_64 || $(. /etc/os-release && echo "$ID$VERSION_ID") != debian12 ]]; then
    echo "00_setup.sh: this system is not Debian 12 (amd64); install the counterparts of: ${missing[*]}; or use --docker" >&2
    exit 1
  fi
  say "installing ${#missing[@]} system packages"
  as_root apt-get -qq update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null
}

# pinned FIELD...: the list of requirements under that field of pyproject.toml.
pinned() {
  "$python" - "$@" <<'TEXT'
import sys, tomllib
value = tomllib.load(open("pyproject.toml", "rb"))
for field in sys.argv[1:]:
    value = value[field]
print("\n".join(value))
TEXT
}

# pip_install VENV FIELD...: what pyproject.toml pins under that field, unless it was installed before.
pip_install() {
  local venv=$1 stamp
  shift
  [[ -x $venv/bin/pip ]] || "$python" -m venv "$venv"
  stamp=$venv/.pinned-$(pinned "$@" | sha256sum | cut -c1-16)
  [[ -e $stamp ]] && return
  say "installing Python packages into $venv"
  pinned "$@" | "$venv/bin/pip" install -q --disable-pip-version-check -r /dev/stdin
  touch "$stamp"
}

python=/usr/bin/python3
if [[ $docker == 1 ]]; then
  command -v docker >/dev/null || { echo "00_setup.sh: docker is missing; apt-get install docker.io" >&2 && exit 1; }
  exec docker build -t conquer:latest .
fi
for device in ${devices[@]+"${devices[@]}"}; do
  case $device in
    vulkan) install libvulkan1 mesa-vulkan-drivers vulkan-tools && say "Vulkan: loader and Mesa drivers are installed" ;;
    aarch64)
      install qemu-user-static libc6-dev-arm64-cross libstdc++6-arm64-cross
      if [[ ! -e .aarch64/iree ]]; then
        "$python" -m venv .aarch64/venv
        .aarch64/venv/bin/pip download -q --no-deps --only-binary=:all: --platform manylinux_2_28_aarch64 -d .aarch64 \
          "$(pinned project dependencies | grep '^iree-base-runtime')"
        "$python" -m zipfile -e .aarch64/*.whl .aarch64
        chmod +x .aarch64/iree/_runtime_libs/iree-run-module
      fi
      say "AArch64: qemu and .aarch64/iree/_runtime_libs/iree-run-module are installed"
      ;;
    cuda) say "CUDA: needs the NVIDIA driver (libcuda.so.1; Debian: nvidia-driver from non-free); no CUDA toolkit" ;;
    rocm) say "ROCm: needs the amdgpu kernel driver and libamdhip64.so of ROCm 6 or later (AMD's package amdgpu-install)" ;;
  esac
done

install "${packages[@]}"
pip_install .venv build-system requires
pip_install .venv project dependencies
if [[ $efficientnet == 1 ]]; then
  install opencv-doc
  pip_install .venv project optional-dependencies efficientnet
fi
sources=(CMakeLists.txt pyproject.toml cmake support hardware conquer-opt conquer-search)
if [[ ! -e .venv/.installed || -n $(find "${sources[@]}" -name __pycache__ -prune -o -newer .venv/.installed -print -quit) ]]; then
  say "building the programs and installing conquer into .venv"
  touch .venv/.installing
  .venv/bin/pip install -q --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall .
  mv .venv/.installing .venv/.installed
fi
say "conquer is ready: .venv/bin/conquer --help"

if [[ $test == 1 ]]; then
  pip_install .venv project optional-dependencies test
  pip_install .venv-tosa project optional-dependencies reference
  say "building the tests"
  cmake -G Ninja -S . -B build -DCONQUER_TESTS=ON >/dev/null
  cmake --build build
  export PATH=$PWD/.venv/bin:$PATH CONQUER_TOSA_TOOLS=$PWD/.venv-tosa/bin
  say "running GoogleTest and lit"
  ctest --test-dir build --output-on-failure -j "$(nproc)"
  say "running pytest"
  .venv/bin/pytest
fi
