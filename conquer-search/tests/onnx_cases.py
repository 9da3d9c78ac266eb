"""One-operator ONNX models, each operator with odd sizes and each of its attributes, for the importer's tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]
Shape = tuple[int, ...]
generator = np.random.default_rng(3)


def weights(*shape: int) -> Array:
    return generator.standard_normal(shape, dtype=np.float32)


def integers(*values: int) -> Array:
    return np.array(values, dtype=np.int64)


def graph_model(
    nodes: list[Any], inputs: Mapping[str, Any], outputs: list[str], constants: Mapping[str, Array], opset: int = 21
) -> Any:
    """A model; dimensions of inputs may be names."""
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return onnx.shape_inference.infer_shapes(model)


def one(op: str, *operands: Shape | Array | None, opset: int = 21, outputs: int = 1, **attributes: Any) -> Any:
    """A model of one node. Operands: a shape is an input, an array a constant, None left out."""
    names, inputs, constants = [], {}, {}
    for index, operand in enumerate(operands):
        names.append("" if operand is None else f"x{index}")
        if isinstance(operand, np.ndarray):
            constants[names[-1]] = operand
        elif operand is not None:
            inputs[names[-1]] = operand
    results = [f"y{index}" for index in range(outputs)]
    node = helper.make_node(op, names, results, name="the/node", **attributes)
    return graph_model([node], inputs, results, constants, opset)


IMAGE = (1, 3, 9, 7)


def convolutions() -> Iterator[tuple[str, Any]]:
    w = weights(5, 3, 3, 2)
    yield "plain", one("Conv", IMAGE, w)
    yield "bias", one("Conv", IMAGE, w, weights(5))
    yield "batch", one("Conv", (2, 3, 5, 6), w)
    yield "pads", one("Conv", IMAGE, w, pads=[1, 0, 2, 1])
    yield "strides", one("Conv", IMAGE, w, pads=[1, 1, 1, 1], strides=[2, 3])
    yield "unused_tail", one("Conv", (1, 3, 10, 10), weights(4, 3, 1, 1), strides=[2, 3])
    yield "dilations", one("Conv", IMAGE, w, dilations=[2, 3], pads=[2, 2, 1, 1])
    yield "valid", one("Conv", IMAGE, w, auto_pad="VALID", strides=[2, 2])
    for mode in ("SAME_UPPER", "SAME_LOWER"):  # not dilated: ONNX Runtime refuses that
        yield mode, one("Conv", IMAGE, w, auto_pad=mode, strides=[2, 2])
    yield "groups", one("Conv", (1, 6, 7, 5), weights(9, 2, 3, 3), weights(9), group=3, pads=[1, 1, 1, 1])
    yield "groups_tail", one("Conv", (1, 4, 8, 8), weights(4, 2, 1, 1), group=2, strides=[2, 2])
    yield "depthwise", one("Conv", (1, 5, 7, 6), weights(5, 1, 3, 3), weights(5), group=5, pads=[1, 1, 1, 1])
    yield "multiplier", one("Conv", (1, 3, 7, 6), weights(6, 1, 3, 2), weights(6), group=3, strides=[2, 1])
    yield "sequence", one("Conv", (1, 4, 11), weights(6, 2, 3), group=2, strides=[2], pads=[1, 0])
    yield "one_channel", one("Conv", (1, 1, 8, 5), weights(2, 1, 3, 3), pads=[0, 1, 0, 1])
    yield "whole", one("Conv", IMAGE, weights(4, 3, 9, 7), kernel_shape=[9, 7])


def pools() -> Iterator[tuple[str, Any]]:
    for op in ("MaxPool", "AveragePool"):
        yield f"{op}_plain", one(op, IMAGE, kernel_shape=[2, 3])
        yield f"{op}_strides", one(op, IMAGE, kernel_shape=[3, 2], strides=[2, 3])
        yield f"{op}_pads", one(op, IMAGE, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 2, 1])
        yield f"{op}_valid", one(op, IMAGE, kernel_shape=[3, 2], strides=[2, 2], auto_pad="VALID")
        for mode in ("SAME_UPPER", "SAME_LOWER"):
            yield f"{op}_{mode}", one(op, IMAGE, kernel_shape=[2, 3], strides=[2, 2], auto_pad=mode)
        for size in (5, 6, 8):
            shape = (1, 2, size, size + 1)
            yield f"{op}_ceil_{size}", one(op, shape, kernel_shape=[3, 2], strides=[2, 3], ceil_mode=1)
            padded: dict[str, Any] = {"kernel_shape": [3, 2], "strides": [3, 3], "pads": [1, 1, 1, 1], "ceil_mode": 1}
            yield f"{op}_ceil_pads_{size}", one(op, shape, **padded)
        yield f"{op}_sequence", one(op, (1, 3, 10), kernel_shape=[3], strides=[2], pads=[0, 1])
        yield f"{op}_old", one(op, IMAGE, opset=8, kernel_shape=[2, 2], strides=[2, 2])
    for ceil in (0, 1):
        window = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 0, 1, 2], "ceil_mode": ceil}
        yield f"counted_{ceil}", one("AveragePool", (1, 2, 8, 6), count_include_pad=1, **window)
    yield "global_average", one("GlobalAveragePool", IMAGE)
    yield "global_average_sequence", one("GlobalAveragePool", (1, 4, 7))
    yield "global_max", one("GlobalMaxPool", IMAGE)
    yield "global_max_sequence", one("GlobalMaxPool", (2, 4, 7))


def activations() -> Iterator[tuple[str, Any]]:
    for op in ("Relu", "Sigmoid", "HardSigmoid", "HardSwish", "LeakyRelu", "Tanh", "Identity", "Dropout"):
        yield op, one(op, IMAGE)
    yield "HardSigmoid_slope", one("HardSigmoid", (3, 5), alpha=0.7, beta=0.1)
    yield "LeakyRelu_slope", one("LeakyRelu", (3, 5), alpha=0.3)
    yield "LeakyRelu_steep", one("LeakyRelu", (3, 5), alpha=1.5)
    yield "LeakyRelu_falling", one("LeakyRelu", (3, 5), alpha=-0.5)
    yield "PRelu_channel", one("PRelu", IMAGE, weights(3, 1, 1))
    yield "PRelu_one", one("PRelu", (2, 5), weights(1))
    yield "PRelu_old", one("PRelu", IMAGE, weights(3, 1, 1), opset=7)
    yield "Clip_attributes", one("Clip", IMAGE, opset=6, min=-0.5, max=0.3)
    low, high = np.float32(-0.4), np.float32(0.6)
    yield "Clip_both", one("Clip", IMAGE, np.array(low), np.array(high))
    yield "Clip_low", one("Clip", (7,), np.array(low), opset=11)
    yield "Clip_high", one("Clip", (7,), None, np.array(high))
    yield "Clip_none", one("Clip", (7,))
    yield "Clip_crossed", one("Clip", (7,), np.array(high), np.array(low))
    yield "Dropout_old", one("Dropout", (3, 4), opset=7, ratio=0.3)


def arithmetic() -> Iterator[tuple[str, Any]]:
    for op in ("Add", "Sub", "Mul", "Div", "Max", "Min"):
        yield f"{op}_both", one(op, IMAGE, IMAGE)
        yield f"{op}_scalar", one(op, IMAGE, np.array(0.7, dtype=np.float32))
        yield f"{op}_channel", one(op, IMAGE, weights(3, 1, 1))
        yield f"{op}_first", one(op, weights(1, 3, 1, 7), IMAGE)
        yield f"{op}_rank", one(op, (4, 1, 5), (3, 1))
    for op in ("Max", "Min"):
        yield f"{op}_one", one(op, (3, 4))
        yield f"{op}_three", one(op, (3, 4), (4,), weights(3, 1))
    yield "Add_old", one("Add", IMAGE, weights(7), opset=7)


def normalisations() -> Iterator[tuple[str, Any]]:
    statistics = [weights(3), weights(3), weights(3), np.abs(weights(3)) + np.float32(0.1)]
    yield "BatchNormalization", one("BatchNormalization", IMAGE, *statistics)
    yield "BatchNormalization_epsilon", one("BatchNormalization", (2, 3, 5), *statistics, epsilon=0.1)
    yield "BatchNormalization_matrix", one("BatchNormalization", (4, 3), *statistics)
    yield "BatchNormalization_old", one("BatchNormalization", IMAGE, *statistics, opset=8)
    for axis in (-1, 0, 1, 2):
        yield f"Softmax_{axis}", one("Softmax", (2, 3, 5), axis=axis)
        yield f"Softmax_old_{axis}", one("Softmax", (2, 3, 5), axis=axis % 3, opset=9)
    yield "Softmax_default", one("Softmax", (2, 3, 5))
    yield "Softmax_old_default", one("Softmax", (2, 3, 5), opset=12)
    yield "Softmax_image", one("Softmax", IMAGE, axis=1)
    yield "ReduceMean_all", one("ReduceMean", (2, 3, 5))
    yield "ReduceMean_all_flat", one("ReduceMean", (2, 3, 5), keepdims=0)
    yield "ReduceMean_noop", one("ReduceMean", (2, 3), integers(), noop_with_empty_axes=1)
    for axes in ([2, 3], [-1], [1], [0, 2]):
        name = "_".join(map(str, axes))
        yield f"ReduceMean_{name}", one("ReduceMean", IMAGE, integers(*axes))
        yield f"ReduceMean_flat_{name}", one("ReduceMean", IMAGE, opset=13, axes=axes, keepdims=0)


def shapes() -> Iterator[tuple[str, Any]]:
    yield "Flatten", one("Flatten", IMAGE)
    for axis in (0, 2, -1, 4):
        yield f"Flatten_{axis}", one("Flatten", IMAGE, axis=axis)
    yield "Reshape", one("Reshape", IMAGE, integers(0, -1, 21))
    yield "Reshape_all", one("Reshape", IMAGE, integers(-1))
    yield "Squeeze", one("Squeeze", (1, 3, 1, 2), integers(0, -2))
    yield "Squeeze_all", one("Squeeze", (1, 3, 1, 2))
    yield "Squeeze_old", one("Squeeze", (1, 3, 1, 2), opset=11, axes=[2])
    yield "Unsqueeze", one("Unsqueeze", (3, 2), integers(0, -1))
    yield "Unsqueeze_old", one("Unsqueeze", (3, 2), opset=11, axes=[1])
    yield "Transpose", one("Transpose", IMAGE)
    yield "Transpose_perm", one("Transpose", IMAGE, perm=[2, 0, 3, 1])
    yield "Transpose_first", one("Transpose", IMAGE, perm=[0, 3, 1, 2])
    yield "Transpose_last", one("Transpose", IMAGE, perm=[0, 2, 3, 1])
    yield "Concat", one("Concat", IMAGE, weights(1, 2, 9, 7), IMAGE, axis=1)
    yield "Concat_negative", one("Concat", (3, 4), (3, 2), axis=-1)
    yield "Split", one("Split", (7, 4), integers(1, 4, 2), outputs=3)
    yield "Split_equal", one("Split", IMAGE, outputs=3, axis=1, num_outputs=3)
    yield "Split_rest", one("Split", (7, 2), outputs=3, num_outputs=3)
    yield "Split_old", one("Split", IMAGE, outputs=2, axis=-1, split=[3, 4], opset=11)
    yield "Slice", one("Slice", IMAGE, integers(1, -6), integers(3, 100), integers(1, 3))
    yield "Slice_steps", one("Slice", IMAGE, integers(0, 1), integers(9, 6), integers(-2, 3), integers(2, 3))
    yield "Slice_old", one("Slice", IMAGE, opset=9, starts=[0, 1], ends=[1, -1], axes=[0, 2])
    yield "Pad", one("Pad", IMAGE, integers(0, 1, 2, 0, 0, 0, 1, 3))
    yield "Pad_value", one("Pad", (3, 4), integers(1, 0, 2, 1), np.array(1.5, dtype=np.float32))
    yield "Pad_axes", one("Pad", IMAGE, integers(1, 2), None, integers(-1))
    yield "Pad_negative", one("Pad", (5, 6), integers(-1, 2, 1, -3))
    yield "Pad_old", one("Pad", IMAGE, opset=2, pads=[0, 0, 1, 1, 0, 0, 2, 0], value=0.5)


def products() -> Iterator[tuple[str, Any]]:
    for trans_a in (0, 1):
        for trans_b in (0, 1):
            a, b = ((6, 3) if trans_a else (3, 6)), ((5, 6) if trans_b else (6, 5))
            common: dict[str, Any] = {"transA": trans_a, "transB": trans_b, "alpha": 0.5, "beta": 2.0}
            yield f"Gemm_{trans_a}{trans_b}", one("Gemm", a, weights(*b), weights(5), **common)
            yield f"Gemm_computed_{trans_a}{trans_b}", one("Gemm", a, b, weights(1, 5), **common)
    for shape in ((), (1,), (3, 1), (3, 5), (1, 5)):
        name = "x".join(map(str, shape)) or "scalar"
        yield f"Gemm_c_{name}", one("Gemm", (3, 6), weights(6, 5), weights(*shape))
        yield f"Gemm_c_computed_{name}", one("Gemm", (3, 6), weights(6, 5), shape or (1,), beta=0.5)
    yield "Gemm_without_c", one("Gemm", (1, 6), weights(6, 5), alpha=3.0)
    yield "MatMul", one("MatMul", (3, 6), weights(6, 5))
    yield "MatMul_batch", one("MatMul", (2, 3, 6), weights(6, 5))
    yield "MatMul_computed", one("MatMul", (3, 6), (6, 5))
    yield "MatMul_left_constant", one("MatMul", weights(3, 6), (6, 5))
    yield "MatMul_broadcast", one("MatMul", (4, 1, 3, 6), (2, 6, 5))
    yield "MatMul_vector", one("MatMul", (6,), weights(6, 5))
    yield "MatMul_vectors", one("MatMul", (2, 3, 6), (6,))


def networks() -> Iterator[tuple[str, Any]]:
    """Operators one behind the other: values held N, H, W, C on their way through all families."""
    make = helper.make_node
    conv = make("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1])
    constants = {"w": weights(4, 3, 3, 3), "f": weights(4 * 9 * 7, 5), "p": weights(4, 1, 1), "v": weights(4)}

    def after(*nodes: Any, outputs: tuple[str, ...] = ("y",), **more: Array) -> Any:
        needed = {name for node in nodes for name in node.input} | {"w"}
        chosen = {name: array for name, array in {**constants, **more}.items() if name in needed}
        return graph_model([conv, *nodes], {"x": IMAGE}, list(outputs), chosen)

    yield "flatten_gemm", after(make("Flatten", ["c"], ["r"]), make("Gemm", ["r", "f"], ["y"]))
    relu = make("Relu", ["r"], ["s"])
    yield "flatten_relu_matmul", after(make("Flatten", ["c"], ["r"]), relu, make("MatMul", ["s", "f"], ["y"]))
    flat = integers(0, -1)
    back = make("Reshape", ["s", "b"], ["t"])
    reshapes = [make("Reshape", ["c", "a"], ["r"]), relu, back, make("Add", ["t", "c"], ["y"])]
    yield "flatten_and_back", after(*reshapes, a=flat, b=integers(1, 4, 9, 7))
    yield "flatten_output", after(make("Flatten", ["c"], ["r"]), make("Relu", ["r"], ["y"]))
    yield "flatten_softmax", after(make("Flatten", ["c"], ["r"]), make("Softmax", ["r"], ["y"]))
    yield "add_channel", after(make("Add", ["c", "p"], ["r"]), make("Mul", ["p", "r"], ["y"]))
    yield "prelu", after(make("PRelu", ["c", "p"], ["y"]))
    yield "rank_three", after(make("Relu", ["c"], ["r"]), make("Sub", ["q", "r"], ["y"]), q=weights(1, 7))
    yield "concat", after(make("Concat", ["c", "x"], ["y"], axis=1))
    yield "concat_constant", after(make("Concat", ["c", "q"], ["y"], axis=2), q=weights(1, 4, 2, 7))
    yield "split", after(make("Split", ["c", "q"], ["r", "s"], axis=1), outputs=("s", "r"), q=integers(1, 3))
    sliced = [integers(1, 0), integers(8, 7), integers(2, 3), integers(2, 3)]
    names = dict(zip("opqr", sliced, strict=True))
    yield "slice_steps", after(make("Slice", ["c", *"opqr"], ["y"]), **names)
    yield "pad", after(make("Pad", ["c", "q"], ["y"]), q=integers(0, 1, 2, 0, 0, 0, 1, 0))
    yield "transpose", after(make("Transpose", ["c"], ["y"], perm=[0, 2, 3, 1]))
    yield "mean", after(make("ReduceMean", ["c", "q"], ["y"], keepdims=0), q=integers(2, 3))
    yield "mean_channel", after(make("ReduceMean", ["c", "q"], ["y"]), q=integers(1))
    yield "softmax", after(make("Softmax", ["c"], ["y"], axis=1))
    pool = make("GlobalAveragePool", ["c"], ["g"])
    gate = [pool, make("Sigmoid", ["g"], ["h"]), make("Mul", ["c", "h"], ["y"])]
    yield "squeeze_excite", after(*gate)
    yield "batch_norm", after(make("BatchNormalization", ["c", "v", "v", "v", "z"], ["y"]), z=np.abs(weights(4)))
    yield "two_outputs", after(make("Relu", ["c"], ["y"]), outputs=("y", "c"))
    # The same elements as N, C, H, W of one tensor and as N, H, W, C of another, each in both layouts.
    twice = [make("Conv", ["x", "w"], ["c"]), make("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2])]
    twice += [make("Reshape", ["t", "q"], ["r"]), make("Reshape", ["c", "q"], ["s"]), make("Sub", ["r", "s"], ["y"])]
    yield (
        "both_layouts",
        graph_model(twice, {"x": (1, 4, 4, 4)}, ["y"], {"w": weights(4, 4, 1, 1), "q": integers(1, -1)}),
    )
    last = make("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2])
    held_last = [last, make("Conv", ["t", "w"], ["c"]), make("Transpose", ["c"], ["y"], perm=[0, 2, 3, 1])]
    yield "channels_last_model", graph_model(held_last, {"x": (1, 6, 5, 3)}, ["y"], {"w": constants["w"]})


FAMILIES = (convolutions, pools, activations, arithmetic, normalisations, shapes, products, networks)


def all_cases() -> dict[str, Any]:
    """Every model by a name of letters, digits and underscores."""
    cases = {}
    for family in FAMILIES:
        for name, model in family():
            onnx.checker.check_model(model)
            key = f"{family.__name__}_{name}".replace("-", "m")
            assert key not in cases
            cases[key] = model
    return cases
