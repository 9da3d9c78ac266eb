"""Runs compiled modules on this CPU: `python -m conquer.worker --threads N`, JSON lines like our other programs.

A process of its own, so that a module that crashes or hangs costs one candidate. Calls go through the lowest layer of
iree.runtime, which adds about 2 microseconds to a call. CPUs are pinned: one for `local-sync`, N for `local-task`.

Methods: `run` (module, inputs: .npy of n samples, output: .npy), `measure` (subjects: [{module, function, inputs:
["1x28x28x1xf32"]}], rounds, round_ms), `sweep` (groups: lists of subjects, rounds), `shutdown`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import iree.runtime as rt
import numpy as np
import numpy.typing as npt
from iree.runtime.flags import parse_flags

TYPES = {
    "f32": (np.float32, rt.HalElementType.FLOAT_32),
    "f16": (np.float16, rt.HalElementType.FLOAT_16),
    "bf16": (np.uint16, rt.HalElementType.BFLOAT_16),
    "i8": (np.int8, rt.HalElementType.SINT_8),
    "i16": (np.int16, rt.HalElementType.SINT_16),
    "i32": (np.int32, rt.HalElementType.SINT_32),
}


class Subject:
    """One function of one module with its inputs on the device."""

    def __init__(self, device: rt.HalDevice, instance: rt.VmInstance, path: str, function: str) -> None:
        module = rt.VmModule.mmap(instance, path)
        self.device, self.function = device, module.lookup_function(function)
        if self.function is None:
            raise ValueError(f"{path} has no function '{function}'")
        self.context = rt.VmContext(instance, [rt.create_hal_module(instance, device), module])
        self.arguments = rt.VmVariantList(0)
        self.inputs: list[npt.NDArray[np.uint8]] = []  # their bytes as the device sees them

    def load(self, arrays: list[tuple[npt.NDArray[Any], rt.HalElementType]]) -> None:
        self.arguments = rt.VmVariantList(len(arrays))
        self.inputs = []
        for array, element in arrays:
            view = self.device.allocator.allocate_buffer_copy(
                memory_type=rt.MemoryType.DEVICE_LOCAL,
                allowed_usage=rt.BufferUsage.DEFAULT | rt.BufferUsage.MAPPING,
                device=self.device,
                buffer=array,
                element_type=element,
            )
            self.arguments.push_ref(view)
            self.inputs.append(view.map().asarray([array.nbytes], np.dtype(np.uint8)))

    def touch(self) -> None:
        """Bring the inputs into the caches, as the layer before leaves them that has just written them."""
        for values in self.inputs:
            values.max(initial=0)

    def call(self) -> rt.VmVariantList:
        results = rt.VmVariantList(1)
        self.context.invoke(self.function, self.arguments, results)
        return results

    def time_after(self, before: Callable[[], None]) -> float:
        """Milliseconds of one call, with `before` right before it."""
        before()
        return self.time(1)

    def time(self, iterations: int) -> float:
        """Mean milliseconds of `iterations` calls."""
        begin = time.perf_counter_ns()
        for _ in range(iterations):
            self.call()
        return (time.perf_counter_ns() - begin) / iterations / 1e6


def random_input(text: str, generator: np.random.Generator) -> tuple[npt.NDArray[Any], rt.HalElementType]:
    """A tensor for a type such as `1x28x28x32xi8`: small floats, integers of the whole range of i8."""
    *dims, element = text.split("x")
    dtype, hal = TYPES[element]
    shape = tuple(int(dim) for dim in dims)
    if element == "bf16":
        return (generator.standard_normal(shape).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), hal
    if np.issubdtype(dtype, np.floating):
        return generator.standard_normal(shape).astype(dtype), hal
    return generator.integers(-128, 128, shape).astype(dtype), hal


class Worker:
    """Answers requests on one device."""

    def __init__(self, threads: int) -> None:
        cpus = sorted(os.sched_getaffinity(0))[-threads:]
        os.sched_setaffinity(0, cpus)
        parse_flags(f"--task_topology_group_count={threads}")
        self.instance = rt.VmInstance()
        self.device = rt.get_device("local-sync" if threads == 1 else "local-task")

    def run(self, module: str, inputs: str, output: str) -> dict[str, Any]:
        subject = Subject(self.device, self.instance, module, "main")
        rows = []
        samples = np.load(inputs)
        for sample in samples:
            subject.load([(np.ascontiguousarray(sample[None]), TYPES["f32"][1])])
            view = subject.call().get_as_ref(0).deref(rt.HalBufferView)
            rows.append(np.array(rt.DeviceArray(self.device, view).to_host()))
        np.save(output, np.concatenate(rows))
        return {"images": len(samples), "file": output}

    def measure(self, subjects: list[dict[str, Any]], rounds: int, round_ms: float) -> dict[str, Any]:
        """Interleaved rounds: each calls every subject, often enough to take `round_ms`, after one call to warm up."""
        loaded = self._load(subjects)
        iterations = [max(1, round(round_ms / max(subject.time(2), 1e-4))) for subject in loaded]
        samples: list[list[float]] = [[] for _ in loaded]
        for _ in range(rounds):
            for subject, count, row in zip(loaded, iterations, samples, strict=True):
                subject.call()
                row.append(subject.time(count))
        return {"samples_ms": samples}

    def sweep(self, groups: list[list[dict[str, Any]]], rounds: int) -> dict[str, Any]:
        """Rounds that call every subject of every group in order, each group twice, the second time timed.

        Between two calls of a layer all others of its group run, as in a network of which the group holds the layers:
        its weights are in the cache that such a network leaves them in. Called again and again it would find them in
        the innermost one and a table made so would promise too much; after other groups, in memory, and too little.
        """
        loaded = [self._load(group) for group in groups]
        samples: list[list[list[float]]] = [[] for _ in groups]
        for _ in range(rounds):
            for group, rows in zip(loaded, samples, strict=True):
                for subject in group:
                    subject.call()
                rows.append([subject.time_after(subject.touch) for subject in group])
        return {"samples_ms": [np.array(rows).T.tolist() for rows in samples]}

    def _load(self, subjects: list[dict[str, Any]]) -> list[Subject]:
        """The subjects with random inputs, called once."""
        loaded = []
        for entry in subjects:
            subject = Subject(self.device, self.instance, entry["module"], entry.get("function", "main"))
            generator = np.random.default_rng(1)
            subject.load([random_input(text, generator) for text in entry["inputs"]])
            subject.time(1)
            loaded.append(subject)
        return loaded


def main() -> None:
    parser = argparse.ArgumentParser(description="Run compiled modules on this CPU; JSON lines on stdin and stdout.")
    parser.add_argument("--threads", type=int, default=1)
    worker = Worker(parser.parse_args().threads)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever the runtime prints is not an answer
    for line in sys.stdin:
        request: dict[str, Any] = {"id": None}
        answer: dict[str, Any] = {"ok": True, "result": {}}
        try:
            request |= json.loads(line)
            if request["method"] in ("run", "measure", "sweep"):
                answer["result"] = getattr(worker, request["method"])(**request["params"])
            elif request["method"] != "shutdown":
                raise ValueError(f"unknown method '{request['method']}'")
        except (ValueError, KeyError, TypeError, RuntimeError, OSError, MemoryError) as error:
            answer = {"ok": False, "error": {"what": f"{type(error).__name__}: {error}", "where": "module"}}
        print(json.dumps({"id": request["id"]} | answer), file=answers, flush=True)
        if request.get("method") == "shutdown":
            return


if __name__ == "__main__":
    main()
