"""Building ONNX networks node by node: names, initialisers, convolutions with BatchNormalization."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class GraphBuilder:
    """Collects nodes and initialisers of one graph; every method returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initialisers: list[onnx.TensorProto] = []

    def constant(self, name: str, values: np.ndarray) -> str:
        self.initialisers.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def node(self, op: str, name: str, inputs: list[str], output: str = "", **attributes: object) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output or name + "_out"], name=name, **attributes))
        return output or name + "_out"

    def batch_norm(self, x: str, name: str, statistics: dict[str, np.ndarray], epsilon: float = 1e-5) -> str:
        """`statistics`: gamma, beta, mean, var."""
        operands = [self.constant(f"{name}.{field}", statistics[field]) for field in ("gamma", "beta", "mean", "var")]
        return self.node("BatchNormalization", name, [x, *operands], epsilon=epsilon)

    def model(self, name: str, image: list[int], classes: int) -> onnx.ModelProto:
        """The network from `image` to `logits` [1, classes], checked."""
        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info("image", TensorProto.FLOAT, image)],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, classes])],
            self.initialisers,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        return model
