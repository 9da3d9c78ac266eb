"""Compile the uniform policies of each example network for each hardware profile; run those that can run here.

    scripts/00_setup.sh --vulkan --aarch64
    .venv/bin/python bench/matrix.py --out runs/matrix

prints one row per network and profile: the precisions that compile, and the largest difference of the module's first
output to the evaluator's, of the largest output, for those that run: on this CPU where its features allow, on a
Vulkan device (Mesa's lavapipe is one), and AArch64 under qemu. A difference beyond what `conquer` accepts for a module
is marked WRONG and gives exit code 1. Profiles of devices that are not here are compiled, not run; for Vulkan, what
runs is the same network compiled for the Android baseline.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from conquer import metrics, modules, stages, tools
from conquer.artifacts import Run, scratch
from conquer.devices import cpu, normal_feature
from conquer.errors import ConquerError, StageFailure
from conquer.stages import Session

ROOT = Path(__file__).parents[1]
EXAMPLES = {
    "resnet": (ROOT / "examples/resnet/resnet18_fashion.onnx", ROOT / "examples/resnet"),
    "mobilenet": (ROOT / "examples/mobilenet/mobilenetv2_fashion.onnx", ROOT / "examples/mobilenet"),
    "efficientnet": (
        ROOT / "runs/efficientnet-lite0/efficientnet_lite0.onnx",
        ROOT / "runs/efficientnet-lite0/data",
    ),
}
QEMU = ["qemu-aarch64-static", "-cpu", "max", "-L", "/usr/aarch64-linux-gnu"]
AARCH64 = ROOT / ".aarch64/iree/_runtime_libs/iree-run-module"
VULKAN_BASELINE = "--iree-vulkan-target=vp_android_baseline_2022"
Runner = Callable[[Path, Path, Path], None]  # module, .npy of one sample, .npy to write


def profiles() -> list[str]:
    return sorted(path.stem for path in (ROOT / "hardware/profiles").glob("*.json") if path.stem != "schema")


def program(command: list[str], device: str) -> Runner:
    """Runs a module with iree-run-module."""

    def run(module: Path, sample: Path, output: Path) -> None:
        call = [*command, f"--module={module}", "--function=main", f"--device={device}"]
        done = subprocess.run(
            [*call, f"--input=@{sample}", f"--output=@{output}"], capture_output=True, text=True, timeout=600
        )
        if done.returncode:
            raise ConquerError(tools.first_error(done.stderr))

    return run


def runner(session: Session) -> Runner | None:
    """How modules of the profile run on this machine; None where they do not."""
    profile = session.target.resolved
    if profile["driver"] == "vulkan":
        return (
            program([str(Path(sys.executable).with_name("iree-run-module"))], "vulkan")
            if shutil.which("vulkaninfo")
            else None
        )
    if profile["driver"] != "local":
        return None
    if profile["arch"] == "aarch64" and platform.machine() != "aarch64":
        return program([*QEMU, str(AARCH64)], "local-sync") if AARCH64.is_file() and shutil.which(QEMU[0]) else None
    if {normal_feature(feature) for feature in profile["features"]} <= cpu()[1]:
        return lambda module, sample, output: session.device.run(module, sample, output) is None
    return None


def examine(session: Session, precision: str, run: Runner | None, folder: Path) -> str:
    """One cell of the matrix: the uniform policy of a precision."""
    policy = modules.uniform(session.layers()["layers"], precision)
    folder.mkdir()
    profile = session.target.resolved
    if (
        profile["driver"] == "none"
    ):  # its product is the quantised TOSA, which quantize checks against the specification
        modules.policy_file(folder / "policy.json", policy)
        inside = folder.relative_to(session.run.folder)
        options = f"calibration=calibration.json policy={inside}/policy.json profile={session.target.profile}"
        modules.opt(
            ["prepared.mlir", f"--conquer-quantize-pipeline={options}", "-o", f"{inside}/q.mlir"],
            cwd=session.run.folder,
        )
        return "TOSA"
    lowered = modules.lower(session.run, policy, session.target, folder)
    modules.compile_ir(lowered, folder / "model.vmfb", profile["iree_flags"], tools.Limits())
    if run is None:
        return "compiled"
    if profile["driver"] == "vulkan":  # a module for one GPU is wrong on another: subgroups have other sizes
        flags = [flag for flag in profile["iree_flags"] if "vulkan-target" not in flag] + [VULKAN_BASELINE]
        try:
            modules.compile_ir(lowered, folder / "model.vmfb", flags, tools.Limits())
        except StageFailure:
            return "compiled"
    sample = np.load(session.run / "data/calibration.npy", mmap_mode="r")[:1]
    np.save(folder / "sample.npy", sample)
    run(folder / "model.vmfb", folder / "sample.npy", folder / "module.npy")
    params = {"policy": policy, "samples": str(folder / "sample.npy"), "output": str(folder / "evaluator.npy")}
    exact = session.evaluator.call("run", params)["exact"]
    got, want = np.load(folder / "module.npy"), np.load(folder / "evaluator.npy")
    difference = metrics.relative_difference(got.reshape(want.shape), want)
    wrong = "" if difference <= modules.tolerance(policy, exact) else " WRONG"
    note = "compiled; for the baseline " if profile["driver"] == "vulkan" else ""
    return note + ("identical" if difference == 0 else f"{difference:.1e}") + wrong


def row(name: str, profile: str, out: Path) -> dict[str, str]:
    """The cells of one network and profile by precision."""
    model, data = EXAMPLES[name]
    run = Run(out / f"{name}-{profile}", create=True)
    stages.import_stage(run, model, {}, lambda text: None)
    run.remember(data=str(data), preprocess=str(ROOT / "examples" / name / "preprocess.json"), profile=profile)
    run.keep()
    session = Session(run, modules.Target.load(profile), lambda text: None)
    cells = {}
    try:
        stages.prepare_stage(session)
        stages.calibrate_stage(session, "minmax", 99.99)
        run_module = runner(session)
        with scratch(run.folder) as folder:
            for precision in modules.precisions(session.layers()["layers"]):
                try:
                    cells[precision] = examine(session, precision, run_module, folder / precision)
                except ConquerError as error:
                    cells[precision] = f"WRONG: {error.message()[:200]}"
    finally:
        session.close()
        run.close()
    return cells


def main() -> int:
    parser = argparse.ArgumentParser(description="Networks times profiles: what compiles, runs and agrees.")
    parser.add_argument("--out", type=Path, required=True, help="folder for the run folders")
    parser.add_argument("--networks", nargs="*", default=list(EXAMPLES), choices=list(EXAMPLES))
    parser.add_argument("--profiles", nargs="*", default=profiles(), choices=profiles())
    args = parser.parse_args()
    wrong = False
    print("| network | profile | uniform policies |\n|---|---|---|")
    for name in args.networks:
        for profile in args.profiles:
            cells = row(name, profile, args.out)
            wrong |= any("WRONG" in cell for cell in cells.values())
            print(f"| {name} | {profile} | {', '.join(f'{p} {cell}' for p, cell in cells.items())} |", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
