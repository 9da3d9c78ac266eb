"""Devices that run modules. Here: the local CPU, in a process of its own, measured in interleaved rounds."""

from __future__ import annotations

import functools
import itertools
import os
import statistics
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from conquer import server
from conquer.artifacts import read_json
from conquer.errors import ConquerError, StageFailure

MODULE_JSON = "module.json"
SILENCE_S = 120.0  # a module or a round that takes longer is taken as hanging


@functools.cache
def cpu() -> tuple[str, frozenset[str]]:
    """Model name and features of this CPU; features without underscores, as LLVM spells them."""
    fields: dict[str, str] = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    flags = fields.get("flags") or fields.get("Features", "")
    return fields.get("model name", "unknown CPU"), frozenset(normal_feature(flag) for flag in flags.split())


def normal_feature(name: str) -> str:
    """`avx512_vnni`, `+avx512vnni` and `AVX512-VNNI` are one feature."""
    return name.lower().lstrip("+").replace("_", "").replace("-", "").replace(".", "")


def require_features(features: list[str], where: str) -> None:
    """Refuse what this CPU would answer with an illegal instruction."""
    name, present = cpu()
    missing = [feature for feature in features if normal_feature(feature) not in present]
    if missing:
        raise ConquerError(
            f"needs {', '.join(missing)}, which this CPU ({name}) lacks",
            where=where,
            fix="choose a profile for this CPU, or measure on the target",
        )


@dataclass(frozen=True)
class Timing:
    """Milliseconds of one module or function over the rounds."""

    samples_ms: list[float]

    @property
    def median_ms(self) -> float:
        return statistics.median(self.samples_ms)

    @property
    def spread_ms(self) -> float:
        """Interquartile range."""
        low, high = np.percentile(self.samples_ms, [25, 75])
        return float(high - low)

    def ratio(self, reference: Timing) -> float:
        """Median over the rounds of this time over the reference's time in the same round."""
        return statistics.median(a / b for a, b in zip(self.samples_ms, reference.samples_ms, strict=True))


class LocalDevice:
    """This CPU with `threads` threads."""

    name = "local"

    def __init__(self, threads: int) -> None:
        available = len(os.sched_getaffinity(0))
        if not 1 <= threads <= available:
            raise ConquerError(
                f"{threads} threads", where="--threads", expected=f"1 to {available}, the CPUs of this process"
            )
        self.threads = threads
        self._server = server.Server(
            [sys.executable, "-m", "conquer.worker", "--threads", str(threads)], seconds=SILENCE_S
        )

    def close(self) -> None:
        self._server.close()

    def identity(self) -> dict[str, Any]:
        """What a measurement depends on besides the module."""
        return {"device": self.name, "cpu": cpu()[0], "threads": self.threads}

    def run(self, module: Path, samples: Path, output: Path) -> npt.NDArray[np.float32]:
        """First output of the module for each sample."""
        self._call("run", {"module": str(module), "inputs": str(samples), "output": str(output)})
        return np.load(output)  # type: ignore[no-any-return]

    def measure(self, subjects: list[dict[str, Any]], rounds: int, round_ms: float) -> list[Timing]:
        """Interleaved rounds over subjects `{module, function, inputs}`, `round_ms` each."""
        self._require_runnable(subjects)
        answer = self._call("measure", {"subjects": subjects, "rounds": rounds, "round_ms": round_ms})
        return [Timing(samples) for samples in answer["samples_ms"]]

    def sweep(self, groups: list[list[dict[str, Any]]], rounds: int) -> list[list[Timing]]:
        """Rounds over groups of subjects; each subject finds the caches as the others of its group left them."""
        self._require_runnable(itertools.chain(*groups))
        answer = self._call("sweep", {"groups": groups, "rounds": rounds})
        return [[Timing(samples) for samples in group] for group in answer["samples_ms"]]

    def _require_runnable(self, subjects: Iterable[dict[str, Any]]) -> None:
        for module in {subject["module"] for subject in subjects}:
            beside = Path(module).parent / MODULE_JSON
            if beside.is_file():
                require_features(read_json(beside, "conquer.module")["features"], module)

    def _call(self, method: str, params: dict[str, Any]) -> Any:
        try:
            return self._server.call(method, params)
        except StageFailure:
            raise
        except ConquerError as error:  # the runtime refused the module: a failure of this candidate
            raise StageFailure(error.what, error.where, error.expected, error.fix) from None


def input_type(shape: list[int], element: str = "f32") -> str:
    """`1x28x28x1xf32`, as IREE spells it."""
    return "x".join([*map(str, shape), element])
