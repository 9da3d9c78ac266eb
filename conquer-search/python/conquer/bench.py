"""Latency of whole modules and of single layers, always beside the f32 module of the run.

A latency is the ratio to f32 in the same rounds, times the f32 latency at the start of the run: so a machine that is
slower for a minute makes neither a policy nor the table look bad, and predictions and measurements share one scale.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from conquer import artifacts as files
from conquer import modules, stages, tools
from conquer.artifacts import digest, read_json, write_json
from conquer.devices import Timing, input_type
from conquer.errors import StageFailure
from conquer.modules import Builder, Module
from conquer.stages import Session

SEARCH_ROUNDS, BASE_ROUNDS, TABLE_ROUNDS, ROUND_MS = 9, 41, 61, 15.0


def builder(session: Session, limits: tools.Limits) -> Builder:
    session.run.need(files.CALIBRATION, "calibrate")
    stages.data_stage(session, "calibration")
    return Builder(session.run, session.target, session.device, session.evaluator, limits)


class Bench:
    """Measures modules of one run beside its f32 module."""

    def __init__(self, session: Session, builder: Builder) -> None:
        self.session, self.builder = session, builder
        self.inputs = [input_type(entry["shape"]) for entry in session.layers()["inputs"]]
        self._reference: Module | None = None

    def reference(self) -> Module:
        if self._reference is None:
            self.session.say("compiling the f32 module")
            built = self.builder.build([modules.uniform(self.session.layers()["layers"], "f32")], 1)[0]
            if isinstance(built, StageFailure):
                raise StageFailure(f"the f32 module: {built.message()}")
            self._reference = built
        return self._reference

    def _subjects(self, built: list[Module]) -> list[dict[str, Any]]:
        return [{"module": str(module.vmfb), "inputs": self.inputs} for module in [self.reference(), *built]]

    def times(self, built: list[Module], rounds: int) -> list[Timing]:
        """Timings of the reference, then of each module, from interleaved rounds."""
        return self.session.device.measure(self._subjects(built), rounds, ROUND_MS)

    def base(self) -> dict[str, Any]:
        """The f32 latency at the start of the run, `median_ms`, and of what; kept in run.json for each thread count."""
        identity = self.session.device.identity() | {"module": self.reference().folder.name}
        known = self.session.run.settings.get("references", {})
        key = digest(identity)[:8]
        if key not in known:
            base = self.times([], BASE_ROUNDS)[0].median_ms
            known = known | {key: {"identity": identity, "median_ms": base}}
            self.session.run.remember(references=known)
            self.session.run.keep()
        return known[key]  # type: ignore[no-any-return]

    def latency(self, timing: Timing, reference: Timing) -> dict[str, float]:
        """Latency and spread from rounds that held both."""
        latency = timing.ratio(reference) * float(self.base()["median_ms"])
        return {"latency_ms": latency, "latency_ms_spread": timing.spread_ms / timing.median_ms * latency}

    def measure(self, module: Module) -> dict[str, float]:
        """Latency and spread of one module."""
        self.base()  # before the rounds: at the start of the run
        reference, timing = self.times([module], SEARCH_ROUNDS)
        return self.latency(timing, reference)

    def sweep(self, groups: list[list[dict[str, Any]]]) -> list[list[Timing]]:
        """Timings of groups of functions, each group called in turn, with the f32 module in each round."""
        base = self.base()["median_ms"]
        (reference,), *timings = self.session.device.sweep([self._subjects([]), *groups], TABLE_ROUNDS)

        def scaled(timing: Timing) -> Timing:
            pairs = zip(timing.samples_ms, reference.samples_ms, strict=True)
            return Timing([base * mine / its for mine, its in pairs])

        return [[scaled(timing) for timing in group] for group in timings]


def table_stage(session: Session, limits: tools.Limits, force: bool = False) -> bool:
    """Time of each layer signature and conversion, each a function of one compiled module -> latency_table.json."""
    run, target = session.run, session.target
    inputs = [run.need(files.PREPARED, "prepare"), run.need(files.CALIBRATION, "calibrate")]
    bench = Bench(session, builder(session, limits))

    def action(made: list[Path]) -> None:
        with files.scratch(run.folder) as folder:
            functions, vmfb = _compile_table(session, folder, limits)
            groups = _groups(functions)
            session.say(f"measuring {len(functions)} functions of the latency table")
            timings = bench.sweep(
                [
                    [{"module": str(vmfb), "function": f["function"], "inputs": f["inputs"]} for f in group]
                    for group in groups
                ]
            )
        layers: dict[str, dict[str, Any]] = {}
        conversions = []
        pairs = list(zip(itertools.chain(*groups), itertools.chain(*timings), strict=True))
        call = next(timing.median_ms for function, timing in pairs if _is_call(function))
        for function, timing in pairs:
            measured = {"measured_ms": max(timing.median_ms - call, 0.0), "spread_ms": timing.spread_ms}
            if _is_call(function):
                continue
            if "signature" in function:
                layers.setdefault(function["signature"], {})[function["precision"]] = measured
            else:
                conversions.append({name: function[name] for name in ("from", "to", "elements")} | measured)
        table = {
            "format": "conquer.latency_table",
            "version": 1,
            "device": session.device.name,
            "profile": target.resolved["name"],
            "threads": session.threads,
            "repetitions": TABLE_ROUNDS,
            "layers": layers,
            "conversions": conversions,
        }
        write_json(made[0], table)

    options = {
        "stage": "table",
        "profile": target.resolved,
        "conquer-opt": session.program("conquer-opt"),
        "compile": target.compile_options(),
        "reference": bench.base(),
    }
    if force:
        (run / f"{files.LATENCY_TABLE}.stamp.json").unlink(missing_ok=True)
    return run.stage([files.LATENCY_TABLE], inputs, options, action)


def _is_call(function: dict[str, Any]) -> bool:
    """The function that does next to nothing: its time is what a call takes, which a layer in a network does not."""
    return "signature" not in function and function["from"] == function["to"]


def _groups(functions: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The functions of the table by what runs together in a network: layers of one precision; conversions."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for function in functions:
        groups.setdefault(function.get("precision", "conversions"), []).append(function)
    return list(groups.values())


def _compile_table(session: Session, folder: Path, limits: tools.Limits) -> tuple[list[dict[str, Any]], Path]:
    """The functions of the table's module and the module, in `folder` inside the run folder."""
    inside = folder.relative_to(session.run.folder)
    options = f"calibration={files.CALIBRATION} profile={session.target.profile} index={inside}/index.json"
    session.say("compiling the latency table")
    modules.opt(
        [files.PREPARED, f"--conquer-latency-pipeline={options}", "--emit-bytecode", "-o", f"{inside}/table.mlirbc"],
        cwd=session.run.folder,
    )
    vmfb = folder / "table.vmfb"
    modules.compile_ir(folder / "table.mlirbc", vmfb, session.target.resolved["iree_flags"], limits)
    return read_json(folder / "index.json", "conquer.latency_index")["functions"], vmfb
