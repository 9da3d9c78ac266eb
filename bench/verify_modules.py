"""Check compiled modules against the evaluator, bit for bit.

    .venv/bin/python bench/verify_modules.py runs/resnet --images 100

Uniform i8: the module's output equals conquer-eval's on every image. Mixed policies (drawn from --seed): a module that
returns every intermediate value is run, and conquer-eval recomputes each op from the module's own inputs of that op;
integer results must be identical, f32 results are reported with their largest difference. Exit code 1 if an integer
differs.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

import iree.runtime as rt
import numpy as np

from conquer import modules
from conquer.artifacts import Run, scratch
from conquer.stages import Session
from conquer.tools import Limits


def compile_module(session: Session, policy: modules.Policy, folder: Path, probe: bool) -> Path:
    """The module of a policy; with `probe` it returns every activation."""
    lowered = modules.lower(session.run, policy, session.target, folder, probe=probe)
    flags = session.target.resolved["iree_flags"]
    modules.compile_ir(lowered, folder / "model.vmfb", flags, Limits())
    return folder / "model.vmfb"


def check_uniform(session: Session, precision: str, samples: np.ndarray, folder: Path) -> int:
    """Number of outputs that differ between the uniform module and the evaluator."""
    policy = modules.uniform(session.layers()["layers"], precision)
    folder.mkdir()
    vmfb = compile_module(session, policy, folder, probe=False)
    np.save(folder / "samples.npy", samples)
    got = session.device.run(vmfb, folder / "samples.npy", folder / "module.npy")
    output = folder / "evaluator.npy"
    session.evaluator.call("run", {"policy": policy, "samples": str(folder / "samples.npy"), "output": str(output)})
    differing = int((got != np.load(output)).sum())
    print(f"uniform {precision}: {len(samples)} images, {got.size} outputs, {differing} differ")
    return differing


def check_mixed(session: Session, policy: modules.Policy, samples: np.ndarray, folder: Path) -> int:
    """Number of integer elements of any op that differ, given the module's own inputs."""
    folder.mkdir()
    main = rt.load_vm_flatbuffer_file(
        str(compile_module(session, policy, folder, probe=True)), driver="local-sync"
    ).main
    values = folder / "values"
    values.mkdir()
    integers = differing = 0
    worst = 0.0
    for sample in samples:
        for index, value in enumerate(main(sample[None])):
            np.save(values / f"{index}.npy", value.to_host())
        for op in session.evaluator.call("check", {"policy": policy, "folder": str(values)})["ops"]:
            if op["type"].endswith("i8"):
                integers += op["elements"]
                differing += op["differing"]
            else:
                worst = max(worst, op["max_abs_difference"])
    share = sum(precision in modules.INTEGER_PRECISIONS for precision in policy.values())
    print(
        f"mixed, {share} of {len(policy)} layers i8 or w4a8: {len(samples)} images, {integers} integer elements, "
        f"{differing} differ; largest difference of an f32 op {worst:.2g}"
    )
    return differing


def main() -> int:
    parser = argparse.ArgumentParser(description="Check compiled modules against the evaluator, bit for bit.")
    parser.add_argument("folder", type=Path, help="a run folder")
    parser.add_argument("--images", type=int, default=100)
    parser.add_argument("--policies", type=int, default=3, help="mixed policies to check")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    run = Run(args.folder)
    session = Session(run, modules.Target.load(run.settings.get("profile", "host")), lambda text: None)
    samples = np.load(run / "data" / "calibration.npy")[: args.images]
    draw = random.Random(args.seed)
    with scratch(run.folder) as folder:
        differing = 0
        for precision in modules.precisions(session.layers()["layers"]):
            if precision in modules.INTEGER_PRECISIONS:
                differing += check_uniform(session, precision, samples, folder / precision)
        for number in range(args.policies):
            # Values of bf16 and f16 do not leave a module as .npy yet.
            policy = {
                entry["id"]: draw.choice([p for p in entry["precisions"] if p not in modules.HALF_PRECISIONS])
                for entry in session.layers()["layers"]
            }
            differing += check_mixed(session, policy, samples[:10], folder / str(number))
    session.close()
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
