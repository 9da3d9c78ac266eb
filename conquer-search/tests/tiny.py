"""A small residual network with its data set, for tests that run the whole way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SHAPE = [1, 2, 9, 7]
CLASSES = 5


def convolution(
    name: str, source: str, weights: Any, bias: Any, pads: list[int], strides: list[int]
) -> tuple[onnx.NodeProto, list[onnx.TensorProto]]:
    values = [numpy_helper.from_array(weights, f"{name}.w"), numpy_helper.from_array(bias, f"{name}.b")]
    node = helper.make_node("Conv", [source, f"{name}.w", f"{name}.b"], [name], name=name, pads=pads, strides=strides)
    return node, values


def network(extra: list[onnx.NodeProto] | None = None, shape: list[Any] | None = None) -> onnx.ModelProto:
    """conv, relu, conv, add, relu, 1x1 conv of stride 2, mean, fully connected. `extra` nodes make `logits` of `fc`."""
    generator = np.random.default_rng(7)

    def random(*dims: int) -> Any:
        return (generator.standard_normal(dims) / np.sqrt(np.prod(dims[1:]) or 1)).astype(np.float32)

    first, a = convolution("first", "image", random(8, 2, 3, 3), random(8), [1, 1, 1, 1], [1, 1])
    second, b = convolution("second", "first.relu", random(8, 8, 3, 3), random(8), [1, 1, 1, 1], [1, 1])
    third, c = convolution("third", "sum.relu", random(16, 8, 1, 1), random(16), [0, 0, 0, 0], [2, 2])
    last = "fc" if extra else "logits"
    nodes = [
        first,
        helper.make_node("Relu", ["first"], ["first.relu"], name="first.relu"),
        second,
        helper.make_node("Add", ["second", "first.relu"], ["sum"], name="sum"),
        helper.make_node("Relu", ["sum"], ["sum.relu"], name="sum.relu"),
        third,
        helper.make_node("GlobalAveragePool", ["third"], ["mean"], name="mean"),
        helper.make_node("Flatten", ["mean"], ["flat"], name="flat"),
        helper.make_node("Gemm", ["flat", "fc.w", "fc.b"], [last], name="fc", transB=1),
        *(extra or []),
    ]
    values = [
        *a,
        *b,
        *c,
        numpy_helper.from_array(random(CLASSES, 16), "fc.w"),
        numpy_helper.from_array(random(CLASSES), "fc.b"),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, shape or SHAPE)],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, CLASSES])],
        values,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def write(folder: Path) -> tuple[Path, Path]:
    """The model and its data set; labels are what the network itself says, but for a tenth."""
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "tiny.onnx"
    model.write_bytes(network().SerializeToString())
    session = onnxruntime.InferenceSession(str(model))
    generator = np.random.default_rng(8)
    data = folder / "data"
    data.mkdir(exist_ok=True)
    for name, count in (("calibration", 24), ("search", 60), ("report", 80)):
        samples = generator.standard_normal((count, *SHAPE[1:])).astype(np.float32)
        logits = np.concatenate([session.run(None, {"image": sample[None]})[0] for sample in samples])
        labels = np.where(generator.random(count) < 0.1, generator.integers(0, CLASSES, count), logits.argmax(1))
        np.save(data / f"{name}.npy", samples)
        np.save(data / f"{name}_labels.npy", labels)
    return model, data


def load(path: Path) -> Any:
    return json.loads(path.read_text())
