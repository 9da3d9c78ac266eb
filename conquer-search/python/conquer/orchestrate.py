"""Closes the search's loop: ask for policies, evaluate, compile, measure, tell; then the report on the final front.

Everything told is kept (modules/, evaluations/, the archive), so that `kill -9` at any moment costs the evaluation in
flight and the same command goes on.
"""

from __future__ import annotations

import errno
import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np

from conquer import artifacts as files
from conquer import data, metrics, modules, stages, tools
from conquer.archive import SearchOptions, archive
from conquer.artifacts import digest, read_json, write_json
from conquer.bench import Bench, builder
from conquer.errors import ConquerError, StageFailure
from conquer.modules import Module, Policy
from conquer.stages import Session

REPORT_ROUNDS = 15


def accuracy(session: Session, policy: Policy, split: str) -> dict[str, Any]:
    """conquer-eval's figures of a policy on one split; kept in evaluations/."""
    data_files = stages.data_stage(session, split)
    inputs = [session.run / files.PREPARED, session.run / files.CALIBRATION, *data_files.all()]
    key = digest(
        {
            "inputs": [tools.file_digest(path) for path in inputs],
            "policy": policy,
            "eval": session.program("conquer-eval"),
            "profile": session.target.resolved,
        }
    )
    path = session.run / "evaluations" / f"{key[:32]}.json"
    if path.is_file():
        return read_json(path, "conquer.accuracy")  # type: ignore[no-any-return]
    params: dict[str, Any] = {"policy": policy, "samples": str(data_files.samples)}
    if data_files.labels:
        params["labels"] = str(data_files.labels)
    if data_files.groups:
        params["per_image"] = True
    result = session.evaluator.call("accuracy", params, session.progress(), refusal=StageFailure)
    write_json(path, {"format": "conquer.accuracy", "version": 1, "policy": policy, **result})
    return result  # type: ignore[no-any-return]


def drop(result: dict[str, Any]) -> float:
    """The objective: loss of top-1 against labels, else the share of images where the answer changed."""
    return float(result["accuracy_drop"]) if "accuracy_drop" in result else 1.0 - float(result["agreement"])


def search(session: Session, options: SearchOptions) -> dict[str, Any]:
    """The loop. Returns the front, which is also in front.json."""
    options.check()
    bench, failures = Bench(session, builder(session, options.compile_limits)), 0
    with archive(session, options) as server:
        session.run.remember(search=options.remembered())
        session.run.keep()
        while not (asked := server.call("ask"))["done"]:
            candidates = asked["candidates"]
            for number in range(0, len(candidates), options.jobs):
                group = candidates[number : number + options.jobs]
                where = f"generation {asked['generation'] + 1} of {options.generations}"
                session.say(f"{where}, candidate {number + 1} of {len(candidates)}")
                for candidate, outcome in zip(group, evaluate_group(session, bench, group, options.jobs), strict=True):
                    if isinstance(outcome, StageFailure):
                        if os.strerror(errno.ENOSPC) in outcome.message():  # not the candidate's fault: try it again
                            raise ConquerError(outcome.message(), fix="free some space, then the same command goes on")
                        failures += 1
                        server.call("tell", {"key": candidate["key"], "failure": outcome.message()})
                        if failures >= max(options.population, 3):
                            raise ConquerError(
                                f"{failures} candidates in a row failed, the last with: {outcome.message()}"
                            )
                    else:
                        failures = 0
                        server.call("tell", {"key": candidate["key"], "measured": outcome})
        front = server.call("front")
        write_json(session.run / files.FRONT, front)
    return front  # type: ignore[no-any-return]


def evaluate_group(
    session: Session, bench: Bench, group: list[dict[str, Any]], jobs: int
) -> list[dict[str, float] | StageFailure]:
    """Accuracy, modules and latency of a few candidates; nothing is compiled while something is measured."""
    bench.reference()
    outcomes: list[dict[str, float] | StageFailure] = []
    accuracies: list[dict[str, Any] | StageFailure] = []
    for candidate in group:
        try:
            accuracies.append(accuracy(session, candidate["policy"], "search"))
        except StageFailure as failure:
            accuracies.append(failure)
    built = bench.builder.build([candidate["policy"] for candidate in group], jobs)
    for result, module in zip(accuracies, built, strict=True):
        try:
            if isinstance(result, StageFailure):
                raise result
            if isinstance(module, StageFailure):
                raise module
            outcomes.append(bench.measure(module) | {"accuracy_drop": drop(result), "size_bytes": module.note["bytes"]})
        except StageFailure as failure:
            outcomes.append(failure)
    return outcomes


def front_points(session: Session, front: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The uniform policies, then the front by latency, each under a name; their policies are written to policies/.

    A policy of the front is named by its content, so that a name means the same in every front. Where nothing met the
    constraints, the policy that comes nearest stands in for the front.
    """
    layers = session.layers()["layers"]
    named = {
        name: {"policy": modules.uniform(layers, name)} | front.get("uniform", {}).get(name, {})
        for name in modules.precisions(layers)
    }
    points = [point | {"on_front": True} for point in front["points"]]
    if not points and "least_violating" in front:
        points = [front["least_violating"]]
    for point in sorted(points, key=lambda point: point["measured"]["latency_ms"]):
        modules.check_policy(point["policy"], layers, files.FRONT)
        same = [name for name in named if named[name]["policy"] == point["policy"]]
        named[same[0] if same else digest(point["policy"])[:8]] = point
    for name, point in named.items():
        path = session.run / "policies" / f"{name}.json"
        if not path.is_file() or modules.read_policy(path) != point["policy"]:
            modules.policy_file(path, point["policy"])
    return named


def compile_policies(
    session: Session, named: dict[str, Policy], options: SearchOptions, keep_ir: bool = False
) -> tuple[dict[str, Module], dict[str, StageFailure]]:
    """One module per policy, in the order given, and why there is none for the others."""
    make, result = builder(session, options.compile_limits), {}
    failed: dict[str, StageFailure] = {}
    for number in range(0, len(named), options.jobs):
        part = dict(itertools.islice(named.items(), number, number + options.jobs))
        session.say(f"compiling module {number + 1} of {len(named)}")
        for name, built in zip(part, make.build(list(part.values()), options.jobs, keep_ir), strict=True):
            if isinstance(built, Module):
                result[name] = built
            else:
                failed[name] = built
    return result, failed


def measure_modules(
    session: Session, named: dict[str, Module], options: SearchOptions, output: str, force: bool = False
) -> dict[str, Any]:
    """Interleaved rounds over all modules beside f32 -> measurement.json."""
    run, bench = session.run, Bench(session, builder(session, options.compile_limits))
    base = bench.base()
    paths = [bench.reference().vmfb, *(module.vmfb for module in named.values())]

    def action(made: list[Path]) -> None:
        session.say(f"measuring {len(named)} modules in {REPORT_ROUNDS} rounds")
        reference, *timings = bench.times(list(named.values()), REPORT_ROUNDS)
        rows = [
            {
                "module": str(module.vmfb.relative_to(run.folder)),
                "median_ms": timing.median_ms,
                "spread_ms": timing.spread_ms,
                "samples_ms": timing.samples_ms,
                "ratio_to_reference": timing.ratio(reference),
                **bench.latency(timing, reference),
            }
            for module, timing in zip(named.values(), timings, strict=True)
        ]
        head = {
            "format": "conquer.measurement",
            "version": 1,
            "device": session.device.name,
            "threads": session.threads,
            "rounds": REPORT_ROUNDS,
        }
        write_json(made[0], head | {"modules": rows, "reference": str(paths[0].relative_to(run.folder))})

    if force:
        (run / f"{output}.stamp.json").unlink(missing_ok=True)
    run.stage([output], paths, {"stage": "measure", "rounds": REPORT_ROUNDS, "reference": base}, action)
    return read_json(run / output, "conquer.measurement")  # type: ignore[no-any-return]


def evaluate_policies(session: Session, named: dict[str, Policy], split: str, output: str) -> dict[str, Any]:
    """Accuracy of each policy on a split with intervals -> evaluation.json."""
    rows = []
    groups_file = stages.data_stage(session, split).groups
    groups = np.load(groups_file) if groups_file else None
    for number, (name, policy) in enumerate(named.items(), 1):
        session.say(f"evaluating policy {number} of {len(named)} on the {split} samples")
        result = accuracy(session, policy, split)
        row: dict[str, Any] = {
            "name": name,
            **{field: result[field] for field in ("images", "agreement", "sqnr_db", "kl")},
        }
        if groups is not None:
            intervals = metrics.grouped_intervals(result["per_image"], groups)
            row |= {f"{name}_interval": ends for name, ends in intervals.items()}
        if "correct" in result:
            top1 = metrics.wilson(result["correct"].count("1"), result["images"])
            loss = metrics.paired_drop(result["correct_f32"], result["correct"])
            row |= {
                "top1": top1.value,
                "top1_interval": top1.as_list(),
                "accuracy_drop": loss.value,
                "accuracy_drop_interval": loss.as_list(),
            }
        rows.append(row)
    name = data.set_name(Path(session.run.settings["data"]))
    evaluation = {"format": "conquer.evaluation", "version": 1, "data": name, "split": split, "policies": rows}
    write_json(session.run / output, evaluation)
    return evaluation
