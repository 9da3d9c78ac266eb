"""Check compiled modules against the evaluator, bit for bit.

    .venv/bin/python bench/verify_modules.py runs/resnet --images 100

Uniform integer policies: the output equals conquer-eval's on every image. Mixed policies: a module that returns every
intermediate value is run, and conquer-eval recomputes each op from the module's own inputs of that op. Integers must
be identical. A bf16 or f16 value is an f32 sum rounded once, and sums in another order may round to the neighbour: at
most one value in a hundred, by at most one step of the tensor's largest value. f32 results are reported. The mixed
policies are drawn from --seed; with --pairs they are instead, for each pair of precisions, the two in turn along the
layers; with --tosa-tools Arm's reference model runs the quantised TOSA of each as well. Exit code 1 if an integer
differs, or a half value by more than that.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import iree.runtime as rt
import numpy as np

from conquer import metrics, modules, tools
from conquer.artifacts import Run, scratch
from conquer.stages import Session

HALF_STEP = {"bf16": 2.0**-7, "f16": 2.0**-10}  # of the numbers in [1, 2)


def compile_module(session: Session, policy: modules.Policy, folder: Path, probe: bool) -> Path:
    """The module of a policy; with `probe` it returns every activation."""
    lowered = modules.lower(session.run, policy, session.target, folder, probe=probe)
    flags = session.target.resolved["iree_flags"]
    modules.compile_ir(lowered, folder / "model.vmfb", flags, tools.Limits())
    return folder / "model.vmfb"


def check_uniform(session: Session, precision: str, samples: np.ndarray, folder: Path) -> bool:
    """Whether the uniform module's output differs from the evaluator's by more than it may."""
    policy = modules.uniform(session.layers()["layers"], precision)
    folder.mkdir()
    vmfb = compile_module(session, policy, folder, probe=False)
    np.save(folder / "samples.npy", samples)
    got = session.device.run(vmfb, folder / "samples.npy", folder / "module.npy")
    output = folder / "evaluator.npy"
    params = {"policy": policy, "samples": str(folder / "samples.npy"), "output": str(output)}
    exact = session.evaluator.call("run", params)["exact"]
    want = np.load(output)
    differing, worst = int((got != want).sum()), metrics.relative_difference(got, want)
    note = "" if exact else f", at most by {worst:.2g} of the largest output; it has ops that stay in f32"
    print(f"uniform {precision}: {len(samples)} images, {got.size} outputs, {differing} differ{note}")
    return worst > modules.tolerance(policy, exact)


@dataclass
class Tally:
    """Elements of the values of one type."""

    elements: int = 0
    differing: int = 0
    worst: float = 0.0  # largest difference as a share of the largest value of its tensor

    def add(self, op: dict[str, Any]) -> None:
        self.elements += op["elements"]
        self.differing += op["differing"]
        if op["differing"]:
            self.worst = max(self.worst, op["max_abs_difference"] / max(op["max_abs_value"], 1e-30))

    def wrong(self, kind: str) -> bool:
        if kind in HALF_STEP:
            return self.differing > self.elements / 100 or self.worst > HALF_STEP[kind]
        return kind != "f32" and self.differing > 0


def alternating(session: Session) -> dict[str, modules.Policy]:
    """For each pair of precisions the policy that has them in turn along the layers, where a layer allows it."""
    layers = session.layers()["layers"]
    return {
        f"{first}/{second}": {
            layer["id"]: wanted if (wanted := (first, second)[number % 2]) in layer["precisions"] else "f32"
            for number, layer in enumerate(layers)
        }
        for first, second in itertools.combinations(modules.precisions(layers), 2)
    }


def drawn(session: Session, count: int, seed: int) -> dict[str, modules.Policy]:
    """Policies whose layers are drawn one by one."""
    draw = random.Random(seed)
    return {
        f"drawn {number}": {layer["id"]: draw.choice(layer["precisions"]) for layer in session.layers()["layers"]}
        for number in range(count)
    }


def check_mixed(session: Session, name: str, policy: modules.Policy, samples: np.ndarray, folder: Path) -> bool:
    """Whether a value of any op differs by more than it may, given the module's own inputs."""
    folder.mkdir()
    main = rt.load_vm_flatbuffer_file(
        str(compile_module(session, policy, folder, probe=True)), driver="local-sync"
    ).main
    values = folder / "values"
    values.mkdir()
    tallies: dict[str, Tally] = {}
    for sample in samples:
        for index, value in enumerate(main(sample[None])):
            array = value.to_host()
            half = array.dtype.name in ("bfloat16", "float16")  # conquer-eval takes them as f32
            np.save(values / f"{index}.npy", array.astype(np.float32) if half else array)
        for op in session.evaluator.call("check", {"policy": policy, "folder": str(values)})["ops"]:
            tallies.setdefault(op["type"].rsplit("x", 1)[-1], Tally()).add(op)
    print(f"mixed, {name}: {len(samples)} images")
    for kind, tally in sorted(tallies.items()):
        print(
            f"  {kind:>5}: {tally.differing} of {tally.elements} differ, at most by {tally.worst:.2g} of the "
            f"largest value{'   WRONG' if tally.wrong(kind) else ''}"
        )
    return any(tally.wrong(kind) for kind, tally in tallies.items())


def check_reference(session: Session, policy: modules.Policy, sample: np.ndarray, folder: Path, tosa: Path) -> bool:
    """Whether Arm's reference model, given the quantised TOSA, answers otherwise than the evaluator may."""
    folder.mkdir()
    np.save(folder / "x.npy", sample)
    modules.policy_file(folder / "policy.json", policy)
    inside = folder.relative_to(session.run.folder)
    options = f"calibration=calibration.json policy={inside}/policy.json profile={session.target.profile}"
    stages = [f"--conquer-quantize-pipeline={options}", "--conquer-strip-annotations", "--mlir-print-op-generic"]
    modules.opt(["prepared.mlir", *stages, "-o", f"{inside}/q.mlir"], cwd=session.run.folder)
    serialize = ["--tosa-serialize", "--tosa-flatbuffer-filename=q.tosa", "q.mlir", "-o", "serialized.mlir"]
    tools.run([str(tosa / "tosa-opt"), *serialize], cwd=folder)
    files = ["--ifm_name=TosaInput_0", "--ifm_file=x.npy", "--ofm_name=TosaOutput_0", "--ofm_file=y.npy"]
    tools.run([str(tosa / "tosa_reference_model"), "--tosa_file=q.tosa", *files], cwd=folder)
    params = {"policy": policy, "samples": str(folder / "x.npy"), "output": str(folder / "evaluator.npy")}
    exact = session.evaluator.call("run", params)["exact"]
    want = np.load(folder / "evaluator.npy")
    difference = metrics.relative_difference(np.load(folder / "y.npy").reshape(want.shape), want)
    wrong = difference > modules.tolerance(policy, exact)
    print(f"  reference model: output differs by {difference:.2g} of the largest{'   WRONG' if wrong else ''}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="Check compiled modules against the evaluator, bit for bit.")
    parser.add_argument("folder", type=Path, help="a run folder")
    parser.add_argument("--images", type=int, default=100)
    parser.add_argument("--policies", type=int, default=3, help="mixed policies to check")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", action="store_true", help="mixed policies of each pair of precisions instead")
    parser.add_argument("--tosa-tools", type=Path, help="folder of tosa-tools' programs: ask the reference model too")
    args = parser.parse_args()
    run = Run(args.folder)
    session = Session(run, modules.Target.load(run.settings.get("profile", "host")), lambda text: None)
    samples = np.load(run / "data" / "calibration.npy")[: args.images]
    wrong = False
    with scratch(run.folder) as folder:
        for precision in modules.precisions(session.layers()["layers"]):
            if precision in modules.INTEGER_PRECISIONS:
                wrong |= check_uniform(session, precision, samples, folder / precision)
        mixed = alternating(session) if args.pairs else drawn(session, args.policies, args.seed)
        for number, (name, policy) in enumerate(mixed.items()):
            wrong |= check_mixed(session, name, policy, samples[:10], folder / str(number))
            if args.tosa_tools:
                wrong |= check_reference(session, policy, samples[:1], folder / f"{number}.tosa", args.tosa_tools)
    session.close()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
