"""From a policy to a checked IREE module: quantise, fuse, lower; iree-compile; agree with the evaluator; keep.

A module lives in `modules/<hash of its lowered IR and compile command>/`. `modules/index/<hash of all inputs>.json`
leads from a policy to it, so that a known policy is not even lowered again.
"""

from __future__ import annotations

import json
import shutil
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from conquer import __version__, metrics, tools
from conquer.artifacts import CALIBRATION, PREPARED, Run, digest, read_json, scratch, write_json
from conquer.devices import MODULE_JSON, LocalDevice
from conquer.errors import ConquerError, StageFailure
from conquer.server import Server

Policy = dict[str, str]
Compilation = Future[dict[str, Any]]
CHECK_IMAGES = 4
# Largest difference to the evaluator, of the largest output, where floats are summed. In a mixed module a last
# bit of a float sum can turn the rounding to i8 of a value, and one such step moves the output by some thousandths.
TOLERANCE_FLOAT, TOLERANCE_MIXED = 1e-3, 1e-2
# Precisions that compute in integers.
INTEGER_PRECISIONS = frozenset({"i8", "w4a8", "w8a16"})
# bf16 and f16 round after every op: a last bit of a float sum can turn a rounding, a step of 2^-8 or 2^-11.
HALF_PRECISIONS = frozenset({"bf16", "f16"})


@dataclass(frozen=True)
class Target:
    """A resolved hardware profile and the flags it gives iree-compile."""

    profile: str
    resolved: dict[str, Any]

    @classmethod
    def load(cls, profile: str) -> Target:
        """Ask conquer-opt, the one reader of profiles."""
        done = opt([f"--show-profile={profile}"], tools.Limits(30.0))
        return cls(profile, json.loads(done.stdout))

    def compile_options(self) -> dict[str, Any]:
        """What a compiled module depends on besides its IR."""
        kernels = sorted((tools.data_folder() / "kernels").glob("*.o"))
        return {
            "flags": self.resolved["iree_flags"],
            "kernels": {path.name: tools.file_digest(path) for path in kernels},
            "versions": tools.iree_versions(),
        }


@dataclass(frozen=True)
class Module:
    """A compiled module on disk."""

    folder: Path
    note: dict[str, Any]

    @property
    def vmfb(self) -> Path:
        return self.folder / "model.vmfb"


def policy_file(path: Path, policy: Policy) -> Path:
    write_json(path, {"format": "conquer.policy", "version": 1, "layers": policy})
    return path


def read_policy(path: Path) -> Policy:
    fields = read_json(path, "conquer.policy")
    if unknown := set(fields) - {"format", "version", "layers"}:
        raise ConquerError(f"unknown field '{min(unknown)}'", where=str(path), expected="format, version, layers")
    layers = fields.get("layers")
    if not isinstance(layers, dict) or not all(isinstance(value, str) for value in layers.values()):
        raise ConquerError("not a policy", where=f"{path}: layers", expected="an object of layer id to precision")
    return layers


def check_policy(policy: Policy, layers: list[dict[str, Any]], where: str) -> None:
    """Every layer exactly once, in a precision its profile allows."""
    known = {layer["id"]: layer["precisions"] for layer in layers}
    for name, precision in policy.items():
        if name not in known:
            raise ConquerError(f"unknown layer '{name}'", where=where, expected="a layer id of layers.json")
        if precision not in known[name]:
            raise ConquerError(
                f"precision '{precision}' is not allowed",
                where=f"{where}: layers.{name}",
                expected=f"one of {', '.join(known[name])}",
            )
    if missing := sorted(set(known) - set(policy)):
        raise ConquerError(f"layer '{missing[0]}' has no precision", where=where, expected="every layer once")


def tolerance(policy: Policy, exact: bool) -> float:
    """The largest difference to the evaluator that a module of the policy may have, of the largest output.

    `exact`: the evaluator found no sum of floats and no approximated function in the quantised network. That takes more
    than a policy of integers: ops without a policy, such as softmax, stay in f32.
    """
    if exact:
        return 0.0
    used = set(policy.values())
    return TOLERANCE_MIXED if used & (INTEGER_PRECISIONS | HALF_PRECISIONS) else TOLERANCE_FLOAT


def uniform(layers: list[dict[str, Any]], precision: str) -> Policy:
    """All layers in one precision; f32 where a layer does not allow it."""
    return {layer["id"]: precision if precision in layer["precisions"] else "f32" for layer in layers}


def precisions(layers: list[dict[str, Any]]) -> list[str]:
    """The precisions that some layer allows, in the order of layers.json."""
    return list(dict.fromkeys(precision for layer in layers for precision in layer["precisions"]))


def opt(arguments: list[str], limits: tools.Limits | None = None, cwd: Path | None = None) -> tools.Finished:
    """Run conquer-opt; whatever it refuses or crashes on is a StageFailure, which costs one candidate."""
    return tools.run([str(tools.find_program("conquer-opt")), *arguments], limits, cwd=cwd)


def compile_command(lowered: Path, output: Path, flags: list[str]) -> list[str]:
    kernels = tools.data_folder() / "kernels"
    search = f"--iree-hal-executable-object-search-path={kernels}"
    return [str(tools.find_iree("iree-compile")), *flags, search, str(lowered), "-o", str(output)]


def compile_ir(lowered: Path, output: Path, flags: list[str], limits: tools.Limits) -> tools.Finished:
    done = tools.run(compile_command(lowered, output, flags), limits)
    if not output.is_file() or output.stat().st_size == 0:
        raise StageFailure("iree-compile ended without an error and wrote no module", fix="check the IREE installation")
    return done


class Builder:
    """Builds, checks and keeps the modules of one run."""

    def __init__(self, run: Run, target: Target, device: LocalDevice, evaluator: Server, limits: tools.Limits) -> None:
        self.run, self.target, self.device, self.evaluator, self.limits = run, target, device, evaluator, limits
        self._inputs = {
            "prepared": tools.file_digest(run / PREPARED),
            "calibration": tools.file_digest(run / CALIBRATION),
            "profile": target.resolved,
            "programs": [tools.file_digest(tools.find_program(name)) for name in ("conquer-opt", "conquer-eval")],
            "compile": target.compile_options(),
        }

    def known(self, policy: Policy) -> Module | None:
        """The module of a policy if it was built before, and is intact."""
        index = self._index(policy)
        if not index.is_file():
            return None
        try:
            folder = self.run / "modules" / read_json(index, "conquer.module_index")["module"]
            note = read_json(folder / MODULE_JSON, "conquer.module")
            return Module(folder, note) if tools.file_digest(folder / "model.vmfb") == note["sha256"] else None
        except (ConquerError, OSError, KeyError, TypeError):
            return None

    def build(self, policies: list[Policy], jobs: int, keep_ir: bool = False) -> list[Module | StageFailure]:
        """One module or failure per policy; `jobs` compile at once, the checks run one after the other."""
        with scratch(self.run.folder) as folder, ThreadPoolExecutor(jobs) as pool:
            parts = [folder / str(number) for number in range(len(policies))]
            found = [None if keep_ir else self.known(policy) for policy in policies]
            tasks = [
                pool.submit(self._compile, policy, part) if module is None else None
                for policy, part, module in zip(policies, parts, found, strict=True)
            ]
            results: list[Module | StageFailure] = []
            try:
                for policy, part, module, task in zip(policies, parts, found, tasks, strict=True):
                    results.append(module or self._outcome(policy, part, task, keep_ir))
            except BaseException:
                tools.kill_all()  # or the pool would wait for its compilers
                raise
        return results

    def _outcome(self, policy: Policy, part: Path, task: Compilation | None, keep_ir: bool) -> Module | StageFailure:
        assert task is not None
        try:
            return self._finish(policy, part, task.result(), keep_ir)
        except StageFailure as failure:
            return failure

    def _index(self, policy: Policy) -> Path:
        return self.run / "modules" / "index" / f"{digest({**self._inputs, 'policy': policy})[:32]}.json"

    def _compile(self, policy: Policy, folder: Path) -> dict[str, Any]:
        folder.mkdir()
        lower(self.run, policy, self.target, folder)
        lowered, vmfb = folder / "lowered.mlirbc", folder / "model.vmfb"
        done = compile_ir(lowered, vmfb, self.target.resolved["iree_flags"], self.limits)
        ir = tools.file_digest(lowered)
        return {
            "key": digest({"ir": ir, "compile": self._inputs["compile"]})[:16],
            "command": done.command,
            "seconds": round(done.seconds, 3),
        }

    def _finish(self, policy: Policy, part: Path, compiled: dict[str, Any], keep_ir: bool) -> Module:
        """Compare with the evaluator, write module.json, move the folder to its place."""
        vmfb = part / "model.vmfb"
        checked = self._check(policy, part)
        if keep_ir:
            lower(self.run, policy, self.target, part, text=True)
        note = {
            "format": "conquer.module",
            "version": 1,
            "profile": self.target.resolved["name"],
            "kernel_level": self.target.resolved["kernel_level"],
            "features": self.target.resolved["features"],
            "policy": policy,
            "bytes": vmfb.stat().st_size,
            "sha256": tools.file_digest(vmfb),
            "compile_command": compiled["command"],
            "compile_seconds": compiled["seconds"],
            "versions": {"conquer": __version__, **tools.iree_versions()},
            **checked,
        }
        write_json(part / MODULE_JSON, note)
        for name in ("lowered.mlirbc", "policy.json", "samples.npy", "module.npy", "evaluator.npy"):
            (part / name).unlink(missing_ok=True)
        home = self.run / "modules" / compiled["key"]
        home.parent.mkdir(exist_ok=True)
        if home.exists():
            shutil.rmtree(home)
        part.rename(home)
        write_json(self._index(policy), {"format": "conquer.module_index", "version": 1, "module": home.name})
        return Module(home, note)

    def _check(self, policy: Policy, part: Path) -> dict[str, Any]:
        """Run module and evaluator on the same samples: identical where that is possible, close otherwise."""
        samples = part / "samples.npy"
        np.save(samples, np.load(self.run / "data" / "calibration.npy", mmap_mode="r")[:CHECK_IMAGES])
        got = self.device.run(part / "model.vmfb", samples, part / "module.npy")
        ran = self.evaluator.call(
            "run",
            {"policy": policy, "samples": str(samples), "output": str(part / "evaluator.npy")},
            refusal=StageFailure,
        )
        want = np.load(part / "evaluator.npy")
        if got.shape != want.shape:
            raise StageFailure(f"the module's output is {list(got.shape)}, the evaluator's {list(want.shape)}")
        relative = metrics.relative_difference(got, want)
        limit = tolerance(policy, ran["exact"])
        if not relative <= limit:  # also NaN
            raise StageFailure(
                f"the module differs from the evaluator by {relative:.2g} of the largest output",
                expected=f"at most {limit:g}",
            )
        return {
            "checked_images": len(got),
            "max_abs_difference": float(np.abs(got - want).max()),
            "identical": bool(np.array_equal(got, want)),
        }


def lower(run: Run, policy: Policy, target: Target, folder: Path, text: bool = False, probe: bool = False) -> Path:
    """Quantize, fuse and lower in one process; with `probe` the module returns every activation.

    `folder` lies in the run folder, where conquer-opt runs, so that no path in the options holds a space.
    """
    policy_file(folder / "policy.json", policy)
    profile = f"profile={target.profile}"
    inside = folder.relative_to(run.folder)
    output = "lowered.mlir" if text else "lowered.mlirbc"
    opt(
        [
            PREPARED,
            f"--conquer-quantize-pipeline=calibration={CALIBRATION} policy={inside}/policy.json {profile}",
            f"--conquer-fuse-pipeline={profile}{' probe=true' if probe else ''}",
            f"--conquer-lower-pipeline={profile}",
            *(["--mlir-print-op-generic"] if text else ["--emit-bytecode"]),
            "-o",
            f"{inside}/{output}",
        ],
        cwd=run.folder,
    )
    return folder / output
