"""Brings an ONNX model into the form that `conquer-opt --import-onnx` reads.

Static shapes, one known operator set, unique node names, no local functions, constants folded, Shape and its
arithmetic gone, only operators that the importer has. Whatever cannot be brought there is refused with the
node, its operator and the reason; operators that the importer lacks before shapes are inferred or anything is folded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto

from conquer.errors import ConquerError
from conquer.folding import FOLDABLE, brief, fold, static_shapes

# The operators of conquer-opt/Import/NodeContext.cpp.
SUPPORTED = frozenset(
    re.findall(
        r"\w+",
        """Add AveragePool BatchNormalization Clip Concat Constant Conv Div Dropout Flatten Gemm GlobalAveragePool
    GlobalMaxPool HardSigmoid HardSwish Identity LeakyRelu MatMul Max MaxPool Min Mul Pad PRelu ReduceMean Relu Reshape
    Sigmoid Slice Softmax Split Squeeze Sub Tanh Transpose Unsqueeze""",
    )
)
OLDEST, NEWEST, CONVERTED = 7, 28, 21  # operator sets: read as they are, and what older ones become


def normalise(path: Path, dims: Mapping[str, int] | None = None) -> Any:
    """The model of a file, normalised. `dims` gives sizes to dynamic dimensions by name, or by `input:axis`."""
    model = load(path)
    where = str(path)
    name_nodes(model.graph)
    refuse_unsupported(model, where)
    drop_initialiser_inputs(model)
    bind_dimensions(model.graph, dict(dims or {}), where)
    model = convert(model, where)
    model = fold(model, where)
    check_outputs(model.graph, where)
    # onnx counts one window too many for some pools with ceil_mode; the importer computes the shapes itself.
    forget_shapes(model.graph)
    return model


# ---------------------------------------------------------------------------------------------------------------------
# Loading and refusing


def read(path: Path) -> Any:
    """Read a file without its external data, whose presence is checked."""
    where = str(path)
    try:
        model = onnx.load(str(path), load_external_data=False)
    except OSError as error:
        raise ConquerError(f"cannot read the file: {error.strerror}", where, "an ONNX model") from None
    except Exception as error:  # protobuf's DecodeError has no public home
        raise ConquerError(f"the file is not an ONNX model, or is truncated ({error})", where) from None
    if not model.HasField("graph") or not model.graph.output:
        raise ConquerError("the file holds no graph with outputs", where, "an ONNX model")
    check_external_data(model, path.resolve().parent, where)
    return model


def external_files(path: Path) -> list[Path]:
    """The files beside the model that hold its tensors."""
    places = {
        entry.value
        for tensor in tensors(read(path).graph)
        if tensor.data_location == TensorProto.EXTERNAL
        for entry in tensor.external_data
        if entry.key == "location"
    }
    return [path.resolve().parent / place for place in sorted(places)]


def load(path: Path) -> Any:
    """Read a file with its external data, and let onnx check it."""
    where, model = str(path), read(path)
    try:
        onnx.load_external_data_for_model(model, str(path.resolve().parent))
        onnx.checker.check_model(model)
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        raise ConquerError(f"not a valid ONNX model: {brief(error)}", where, fix="export it again") from None
    if model.functions:
        model = onnx.inliner.inline_local_functions(model)
    return model


def check_external_data(model: Any, folder: Path, where: str) -> None:
    """Tensors may lie in other files, but only in the model's folder or below."""
    for tensor in tensors(model.graph):
        if tensor.data_location != TensorProto.EXTERNAL:
            continue
        entries = {entry.key: entry.value for entry in tensor.external_data}
        place = f"{where}: tensor '{tensor.name}'"
        file = folder / entries.get("location", "")
        if not entries.get("location") or not file.resolve().is_relative_to(folder):
            raise ConquerError(f"data at '{entries.get('location')}'", place, "a file in the model's folder")
        if not file.is_file():
            raise ConquerError(f"the data file '{entries['location']}' is missing", place, fix="copy it there")
        try:
            end = int(entries.get("offset", "0")) + int(entries.get("length", "0"))
        except ValueError:
            end = -1
        if not 0 <= end <= file.stat().st_size:
            raise ConquerError(f"the data file '{entries['location']}' is shorter than the model says", place)


def tensors(graph: Any) -> Iterator[Any]:
    """Initialisers and the tensors of attributes."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                yield attribute.t
            elif attribute.type == onnx.AttributeProto.GRAPH:
                yield from tensors(attribute.g)


def name_nodes(graph: Any) -> None:
    """Every node gets a name of its own: `index/operator/output` where it has none or an earlier node's."""
    taken = {node.name for node in graph.node}
    seen: set[str] = {""}
    for index, node in enumerate(graph.node):
        if node.name in seen:
            name = "/".join([str(index), node.op_type, *node.output[:1]])
            while name in taken:
                name += "'"
            node.name = name
            taken.add(name)
        seen.add(node.name)


def refuse_unsupported(model: Any, where: str) -> None:
    """Every node must be one the importer has, or be computable from constants and shapes."""
    graph = model.graph
    known = {tensor.name for tensor in graph.initializer} | {""}
    refusals = []
    for node in graph.node:
        foldable = node.op_type in FOLDABLE and set(node.input) <= known
        constant = node.op_type in ("Constant", "Shape", "Size") or foldable
        if constant and not node.domain:
            known |= set(node.output)
        elif reason := refusal(node):
            refusals.append(f"node '{node.name}' ({node.op_type}): {reason}")
    if refusals:
        more = f" (and {len(refusals) - 1} more nodes)" if len(refusals) > 1 else ""
        raise ConquerError(
            refusals[0] + more, where, "operators listed in docs/import.md", "export the network without this operator"
        )
    for value in graph.input:
        kind = value.type.tensor_type.elem_type
        if value.name not in known and kind != TensorProto.FLOAT:
            name = TensorProto.DataType.Name(kind) if kind in TensorProto.DataType.values() else kind
            raise ConquerError(f"element type {name}", f"{where}: input '{value.name}'", "FLOAT")


def refusal(node: Any) -> str:
    """Why a node on the path of activations cannot be imported; empty if it can."""
    if node.domain not in ("", "ai.onnx"):
        return f"operators of domain '{node.domain}' are not supported"
    if node.op_type in SUPPORTED:
        return ""
    if node.op_type in FOLDABLE:
        return "supported on constants and shapes only, but its input is an activation"
    return "the operator is not supported"


# ---------------------------------------------------------------------------------------------------------------------
# Shapes and operator sets


def drop_initialiser_inputs(model: Any) -> None:
    """Initialisers that are also graph inputs (usual before IR version 4) are constants, not inputs."""
    constants = {tensor.name for tensor in model.graph.initializer}
    keep = [value for value in model.graph.input if value.name not in constants]
    del model.graph.input[:]
    model.graph.input.extend(keep)
    model.ir_version = max(model.ir_version, 8)


def bind_dimensions(graph: Any, dims: dict[str, int], where: str) -> None:
    """Give every dynamic dimension of the inputs its size: as told, 1 for a batch (the first axis), else an error."""
    for name, size in dims.items():
        if not 1 <= size < 1 << 31:
            raise ConquerError(f"dimension {name}={size}", "--dim", "a size of at least 1")
    unused = set(dims)
    batch = {
        value.type.tensor_type.shape.dim[0].dim_param
        for value in graph.input
        if len(value.type.tensor_type.shape.dim) > 1
    } - {""}
    known: list[str] = []
    for value in graph.input:
        place = f"{where}: input '{value.name}'"
        if not value.type.tensor_type.HasField("shape"):
            raise ConquerError("the input has no shape", place, "a shape", "export the network with one")
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.HasField("dim_value") and dim.dim_value > 0:
                continue
            names = [name for name in (dim.dim_param, f"{value.name}:{axis}") if name]
            known += names
            unused -= set(names)
            told = [dims[name] for name in names if name in dims]
            is_batch = (axis == 0 and len(value.type.tensor_type.shape.dim) > 1) or dim.dim_param in batch
            if not told and not is_batch:
                raise ConquerError(
                    f"dimension {axis} ('{names[0]}') has no size", place, fix=f"give it with --dim {names[0]}=SIZE"
                )
            dim.dim_value = told[0] if told else 1
    if unused:
        raise ConquerError(
            f"no dynamic dimension is called '{min(unused)}'",
            f"{where}: --dim",
            ", ".join(dict.fromkeys(known)) or "none: all dimensions of this model are fixed",
        )
    forget_shapes(graph)


def forget_shapes(graph: Any) -> None:
    """Drop the shapes of all values but the inputs."""
    for value in graph.output:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    del graph.value_info[:]


def convert(model: Any, where: str) -> Any:
    """An operator set that the importer reads."""
    version = next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), 0)
    if version > NEWEST:
        raise ConquerError(f"operator set {version}", where, f"at most {NEWEST}", "export it for an older one")
    if version >= OLDEST:
        return model
    try:
        converted = onnx.version_converter.convert_version(model, CONVERTED)
    except Exception as error:  # the converter raises what its C++ throws
        raise ConquerError(
            f"operator set {version} cannot be converted to {CONVERTED}: {brief(error)}",
            where,
            fix=f"export the network for operator set {CONVERTED}",
        ) from None
    name_nodes(converted.graph)
    return converted


def check_outputs(graph: Any, where: str) -> None:
    shapes = static_shapes(graph)
    for value in graph.output:
        if value.name not in shapes:
            raise ConquerError(
                "the shape depends on the data, or could not be inferred",
                f"{where}: output '{value.name}'",
                "a static shape",
            )
