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

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from conquer.errors import ConquerError

# The operators of conquer-opt/Import/NodeContext.cpp.
SUPPORTED = frozenset(
    re.findall(
        r"\w+",
        """Add AveragePool BatchNormalization Clip Concat Constant Conv Div Dropout Flatten Gemm GlobalAveragePool
    GlobalMaxPool HardSigmoid HardSwish Identity LeakyRelu MatMul Max MaxPool Min Mul Pad PRelu ReduceMean Relu Reshape
    Sigmoid Slice Softmax Split Squeeze Sub Tanh Transpose Unsqueeze""",
    )
)
# What the reference evaluator of onnx computes beyond doubt; folded where all inputs are constants.
FOLDABLE = frozenset(
    re.findall(
        r"\w+",
        """Abs Add And Cast Ceil Clip Concat ConstantOfShape Div Equal Exp Expand Flatten Floor Gather GatherND Greater
    GreaterOrEqual Identity Less LessOrEqual Log Max Min Mod Mul Neg Not Or Pow Range Reciprocal ReduceMax ReduceMin
    ReduceProd ReduceSum Reshape ScatterND Shape Sign Size Slice Split Sqrt Squeeze Sub Sum Tile Transpose Unsqueeze
    Where""",
    )
)
OLDEST, NEWEST, CONVERTED = 7, 28, 21  # operator sets: read as they are, and what older ones become
LARGEST_FOLDED = 1 << 26  # elements of a folded constant
PASSES = 50  # folding ends long before; a bound against surprises

Array = npt.NDArray[Any]


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


def load(path: Path) -> Any:
    """Read a file with its external data, and let onnx check it."""
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


def infer(model: Any, where: str) -> Any:
    """Shapes of all values, from the inputs' shapes and the constants."""
    del model.graph.value_info[:]
    try:
        return onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except Exception as error:
        raise ConquerError(f"the shapes do not fit: {brief(error)}", where, fix="export the network again") from None


def static_shapes(graph: Any) -> dict[str, list[int]]:
    shapes = {}
    for value in [*graph.value_info, *graph.input, *graph.output]:
        if value.type.HasField("tensor_type") and value.type.tensor_type.HasField("shape"):
            shape = value.type.tensor_type.shape.dim
            if all(dim.HasField("dim_value") for dim in shape):
                shapes[value.name] = [dim.dim_value for dim in shape]
    return shapes


def check_outputs(graph: Any, where: str) -> None:
    shapes = static_shapes(graph)
    for value in graph.output:
        if value.name not in shapes:
            raise ConquerError(
                "the shape depends on the data, or could not be inferred",
                f"{where}: output '{value.name}'",
                "a static shape",
            )


# ---------------------------------------------------------------------------------------------------------------------
# Folding


def fold(model: Any, where: str) -> Any:
    """Compute what depends on constants and shapes only; drop what nobody reads."""
    for _ in range(PASSES):
        model = infer(model, where)
        if not fold_once(model, where):
            break
    remove_unused(model.graph)
    return infer(model, where)


def fold_once(model: Any, where: str) -> bool:
    graph = model.graph
    shapes = static_shapes(graph)
    constants = {tensor.name: tensor for tensor in graph.initializer}
    outputs = {value.name for value in graph.output}
    renamed: dict[str, str] = {}
    kept = []
    for node in graph.node:
        for index, name in enumerate(node.input):
            node.input[index] = renamed.get(name, name)
        if passes_through(node, constants, where) and node.output[0] not in outputs:
            renamed[node.output[0]] = node.input[0]
            continue
        results = None if outputs & set(node.output) else evaluate(node, constants, shapes, model.opset_import)
        if results is None:
            kept.append(node)
            continue
        for name, result in zip(node.output, results, strict=False):
            if name:
                graph.initializer.append(numpy_helper.from_array(np.array(result, order="C"), name))
                constants[name] = graph.initializer[-1]
    changed = len(kept) != len(graph.node)
    del graph.node[:]
    graph.node.extend(kept)
    return changed


def passes_through(node: Any, constants: Mapping[str, Any], where: str) -> bool:
    """Identity, and Dropout outside of training."""
    if node.op_type == "Dropout" and len(node.input) > 2 and node.input[2]:
        training = constants.get(node.input[2])
        if training is None or bool(numpy_helper.to_array(training)):
            raise ConquerError(
                f"node '{node.name}' (Dropout) is in training mode", where, fix="export the network for inference"
            )
    return node.op_type == "Identity" or (node.op_type == "Dropout" and len(node.output) == 1)


def evaluate(
    node: Any, constants: Mapping[str, Any], shapes: Mapping[str, list[int]], opsets: Any
) -> list[Array] | None:
    """The outputs of a node that can be computed now; None if it stays."""
    if node.op_type == "Constant":
        return constant_value(node)
    if node.op_type in ("Shape", "Size") and node.input[0] in shapes:
        shape = np.array(shapes[node.input[0]], dtype=np.int64)
        if node.op_type == "Size":
            return [np.array(np.prod(shape), dtype=np.int64)]
        bounds = {attribute.name: attribute.i for attribute in node.attribute}
        return [shape[bounds.get("start", 0) : bounds.get("end", len(shape))]]
    if node.op_type not in FOLDABLE or not all(name in constants for name in node.input if name):
        return None
    if any(np.prod(shapes.get(name, [0]), dtype=float) > LARGEST_FOLDED for name in node.output):
        return None
    inputs = {name: constants[name] for name in node.input if name}
    try:
        typed = [helper.make_tensor_value_info(name, t.data_type, list(t.dims)) for name, t in inputs.items()]
        results = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in node.output if name]
        single = helper.make_model(
            helper.make_graph([node], "node", typed, results), opset_imports=opsets, ir_version=8
        )
        values = ReferenceEvaluator(single).run(None, {name: numpy_helper.to_array(t) for name, t in inputs.items()})
    except Exception:  # an operator that cannot be computed stays, and is refused by name if the importer lacks it
        return None
    computed = iter(values)
    return [np.asarray(next(computed)) if name else np.zeros(0) for name in node.output]


def constant_value(node: Any) -> list[Array] | None:
    """The value of a Constant node."""
    if len(node.attribute) != 1:
        return None
    attribute = node.attribute[0]
    if attribute.name == "value":
        return [numpy_helper.to_array(attribute.t)]
    types = {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64}
    if attribute.name not in types:
        return None
    return [np.array(helper.get_attribute_value(attribute), dtype=types[attribute.name])]


def remove_unused(graph: Any) -> None:
    """Nodes and initialisers that no output needs."""
    needed = {value.name for value in graph.output}
    kept = []
    for node in reversed(graph.node):
        if needed & set(node.output):
            needed |= set(node.input)
            kept.append(node)
    del graph.node[:]
    graph.node.extend(reversed(kept))
    constants = [tensor for tensor in graph.initializer if tensor.name in needed]
    del graph.initializer[:]
    graph.initializer.extend(constants)


def brief(error: Exception) -> str:
    """The first line of a library's message that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return re.sub(r"\s+", " ", lines[0])[:300] if lines else type(error).__name__
