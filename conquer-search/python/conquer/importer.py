"""ONNX -> TOSA: normalise, convert with `conquer-opt --import-onnx`, check against ONNX Runtime.

No import is trusted unseen: the original file runs in ONNX Runtime (graph optimisations off) and the imported module
in conquer-eval, both on one random input. A module that differs is not written.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import helper

from conquer import tools
from conquer.errors import ConquerError, StageFailure
from conquer.folding import brief
from conquer.normalise import normalise
from conquer.server import Server

TOLERANCE = 1e-4  # largest difference to ONNX Runtime, of the largest element
SEED = 1
Array = npt.NDArray[Any]
Arrays = dict[str, Array]


@dataclass
class Values:
    """What a run of an imported module computed."""

    outputs: list[Array]
    nodes: Arrays = field(default_factory=dict)  # by node name, N, H, W, C or as in ONNX; where asked for


# Runs a TOSA module on inputs by name; the last argument asks for the values of the nodes as well.
Runner = Callable[[Path, Arrays, bool], Values]


def versions() -> dict[str, str]:
    """What the result of an import depends on besides the model and our programs."""
    return {"onnx": onnx.__version__, "onnxruntime": onnxruntime.__version__}


def run_evaluator(module: Path, inputs: Arrays, probe: bool) -> Values:
    """Prepare the module for the host and run it in conquer-eval."""
    if len(inputs) != 1:
        raise ConquerError(f"the network has {len(inputs)} inputs", str(module), "one")
    if (sizes := next(iter(inputs.values())).shape)[:1] != (1,):
        raise ConquerError(
            f"batch size {sizes[0]}" if sizes else "no batch dimension",
            f"input '{next(iter(inputs))}'",
            "1",
            "export it for one image, or with a dynamic batch and --dim NAME=1",
        )
    with tempfile.TemporaryDirectory(prefix="conquer-") as scratch:
        folder = Path(scratch)
        pipeline = "--conquer-prepare-pipeline=profile=host layers=layers.json"
        opt = [str(tools.find_program("conquer-opt")), str(module.resolve()), pipeline, "-o", "prepared.mlir"]
        tools.run(opt, cwd=folder)
        np.save(folder / "samples.npy", next(iter(inputs.values())))
        params: dict[str, Any] = {"policy": None, "samples": str(folder / "samples.npy")}
        params |= {"output": str(folder / "output.npy"), "outputs": str(folder / "outputs")}
        if probe:
            (folder / "values").mkdir()
            params["values"] = str(folder / "values")
        prepared = str(folder / "prepared.mlir")
        with Server([str(tools.find_program("conquer-eval")), "--prepared", prepared, "--profile", "host"]) as server:
            outputs = server.call("info")["outputs"]
            server.call("run", params)
        nodes = {unquote(file.stem): np.load(file) for file in (folder / "values").glob("*.npy")}
        arrays = [
            np.load(folder / "outputs" / f"{index}.npy").reshape(output["shape"])
            for index, output in enumerate(outputs)
        ]
        return Values(arrays, nodes)


def import_onnx(
    model: Path, output: Path, dims: Mapping[str, int] | None = None, runner: Runner = run_evaluator
) -> None:
    """Write the TOSA module of an ONNX file. `dims` gives sizes to dynamic dimensions (`{"N": 4}`).

    Raises ConquerError: see `normalise` and `docs/import.md` for what is refused, and `check` for modules that compute
    something else than ONNX Runtime.
    """
    normalised = normalise(model, dims)
    with tempfile.TemporaryDirectory(dir=output.resolve().parent, prefix=".import-") as scratch:
        module = Path(scratch) / "model.tosa.mlir"
        convert(normalised, model, module)
        check(model, normalised, module, runner)
        os.replace(module, output)


def convert(normalised: Any, model: Path, module: Path) -> None:
    """Run conquer-opt on a normalised model; its refusal names the user's file."""
    source = module.with_name("normalised.onnx")
    try:
        source.write_bytes(normalised.SerializeToString())
    except ValueError as error:  # protobuf's limit of 2 GB
        raise ConquerError(f"the model is too large: {brief(error)}", str(model), "at most 2 GB") from None
    try:
        tools.run([str(tools.find_program("conquer-opt")), "--import-onnx", str(source), "-o", str(module)])
    except StageFailure as failure:
        _, refused, text = failure.what.partition("error: ")
        if not refused:
            raise
        raise ConquerError(text.replace(f"{source}: ", "", 1), str(model)) from None
    finally:
        source.unlink(missing_ok=True)


# ---------------------------------------------------------------------------------------------------------------------
# The check


def check(model: Path, normalised: Any, module: Path, runner: Runner) -> None:
    """Compare the module with ONNX Runtime on the original file; refuse and name the first node that differs."""
    inputs = random_inputs(normalised.graph)
    names = [value.name for value in normalised.graph.output]
    expected = run_onnxruntime(str(model), inputs, names)
    outputs = runner(module, inputs, False).outputs
    worst = max(difference(array, truth) for array, truth in zip(outputs, expected, strict=True))
    if worst <= TOLERANCE:
        return
    for tensor in normalised.graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        if np.issubdtype(values.dtype, np.floating) and not np.isfinite(values).all():
            raise ConquerError("the constant holds NaN or infinity", f"{model}: '{tensor.name}'", "finite numbers")
    found = first_difference(normalised, inputs, runner(module, inputs, True).nodes)
    raise ConquerError(
        f"the imported network differs from ONNX Runtime by {worst:.2g} of the largest output",
        f"{model}: {found}" if found else str(model),
        f"at most {TOLERANCE:g}",
        "please report this model",
    )


def random_inputs(graph: Any) -> Arrays:
    """Normally distributed numbers; the same for every run."""
    generator = np.random.default_rng(SEED)
    return {
        value.name: generator.standard_normal(
            [dim.dim_value for dim in value.type.tensor_type.shape.dim], dtype=np.float32
        )
        for value in graph.input
    }


def run_onnxruntime(model: str | bytes, inputs: Arrays, outputs: list[str]) -> list[Array]:
    """The outputs of a model, computed without graph optimisations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return session.run(outputs, inputs)  # type: ignore[no-any-return]
    except Exception as error:  # its exceptions have no common class
        where = model if isinstance(model, str) else "the normalised model"
        raise ConquerError(f"ONNX Runtime refuses the model: {brief(error)}", where, fix="export it again") from None


def difference(got: Array, expected: Array) -> float:
    """Largest absolute difference over the largest expected magnitude; infinite for other shapes or lost NaNs."""
    if got.shape != expected.shape:
        return np.inf
    finite = np.isfinite(expected)
    if not np.array_equal(got[~finite], expected[~finite], equal_nan=True):
        return np.inf
    if not finite.any():
        return 0.0
    wanted = expected[finite].astype(np.float64)
    error = np.abs(got[finite] - wanted).max() / max(np.abs(wanted).max(), 1e-6)
    return float(error) if np.isfinite(error) else np.inf


def first_difference(normalised: Any, inputs: Arrays, nodes: Arrays) -> str:
    """The first node, in the model's order, whose value differs: "node '/conv1/Conv' (Conv)"."""
    # Prepare folds constant arithmetic into the layer before it, whose value is then the one after that arithmetic.
    folds = {
        node.input[0]
        for node in normalised.graph.node
        if node.op_type in ("Add", "BatchNormalization", "Div", "Mul", "Sub")
    }
    candidates = [node for node in normalised.graph.node if node.name in nodes and node.output[0] not in folds]
    probed = onnx.ModelProto()
    probed.CopyFrom(normalised)
    present = {value.name for value in probed.graph.output}
    names = [node.output[0] for node in candidates]
    probed.graph.output.extend(
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names if name not in present
    )
    for node, expected in zip(
        candidates, run_onnxruntime(probed.SerializeToString(), inputs, names) if names else [], strict=True
    ):
        if closest(nodes[node.name], expected) > TOLERANCE:
            return f"node '{node.name}' ({node.op_type})"
    return ""


def closest(got: Array, expected: Array) -> float:
    """Difference in whichever layout the value is held: images N, H, W, C, flattened ones in any order."""
    if got.shape == (1, *expected.shape):  # the evaluator's axis of samples
        got = got[0]
    errors = [difference(got, expected)]
    if got.ndim == 4:
        errors.append(difference(got.transpose(0, 3, 1, 2), expected))
    elif got.size == expected.size:
        errors.append(difference(np.sort(got, axis=None), np.sort(expected, axis=None)))
    return min(errors)
