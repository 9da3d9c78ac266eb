"""Shape inference, and folding of what an ONNX graph computes from constants and shapes alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from conquer.errors import ConquerError

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
LARGEST_FOLDED = 1 << 26  # elements of a folded constant
PASSES = 50  # folding ends long before; a bound against surprises

Array = npt.NDArray[Any]


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
