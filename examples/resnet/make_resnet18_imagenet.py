"""Write ResNet-18 at 224 px with an ImageNet head as ONNX, with random weights: for latency, not for accuracy.

    python3 examples/resnet/make_resnet18_imagenet.py --out runs/resnet18-224

writes resnet18.onnx (46 MB) and data/{calibration,search,report}.npy, 8 random images each. The topology is table 1
of He et al. 2016, with BatchNormalization nodes, so that folding them is exercised too; users with trained weights
give their own ONNX file to `conquer run` instead. The same seed writes the same file.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import onnx

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples.common.onnx_graph import GraphBuilder


class Builder(GraphBuilder):
    """A graph of random weights."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = np.random.default_rng(seed)

    def conv_bn(self, x: str, name: str, inputs: int, outputs: int, kernel: int, stride: int) -> str:
        """A convolution without bias (He initialisation) and its BatchNormalization."""
        spread = np.sqrt(2 / (inputs * kernel * kernel))
        weights = self.constant(name + ".w", self.random.normal(0, spread, (outputs, inputs, kernel, kernel)))
        x = self.node(
            "Conv", name, [x, weights], kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4
        )
        statistics = {
            "gamma": self.random.uniform(0.5, 1.5, outputs),
            "beta": self.random.normal(0, 0.1, outputs),
            "mean": self.random.normal(0, 0.1, outputs),
            "var": self.random.uniform(0.5, 2, outputs),
        }
        return self.batch_norm(x, name + ".bn", statistics)

    def relu(self, x: str, name: str) -> str:
        return self.node("Relu", name, [x])


def build(seed: int) -> onnx.ModelProto:
    net = Builder(seed)
    x = net.relu(net.conv_bn("image", "conv1", 3, 64, 7, 2), "relu1")
    x = net.node("MaxPool", "maxpool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for stage in range(4):
        outputs = 64 << stage
        for block in range(2):
            name = f"layer{stage + 1}.{block}"
            stride = 2 if stage and not block else 1
            y = net.relu(net.conv_bn(x, name + ".conv1", channels, outputs, 3, stride), name + ".relu1")
            y = net.conv_bn(y, name + ".conv2", outputs, outputs, 3, 1)
            if stride != 1:
                x = net.conv_bn(x, name + ".downsample", channels, outputs, 1, stride)
            x = net.relu(net.node("Add", name + ".add", [y, x]), name + ".relu2")
            channels = outputs
    x = net.node("Flatten", "flatten", [net.node("GlobalAveragePool", "pool", [x])])
    weights = net.constant("fc.w", net.random.normal(0, 0.05, (1000, 512)))
    bias = net.constant("fc.b", net.random.normal(0, 0.1, 1000))
    net.node("Gemm", "fc", [x, weights, bias], "logits", transB=1)
    return net.model("resnet18", [1, 3, 224, 224], 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write ResNet-18 at 224 px with random weights, for latency.")
    parser.add_argument("--out", type=Path, required=True, help="folder for resnet18.onnx and data/")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    onnx.save(build(args.seed), args.out / "resnet18.onnx")
    data = args.out / "data"
    data.mkdir(exist_ok=True)
    generator = np.random.default_rng(args.seed + 1)
    for split in ("calibration", "search", "report"):
        np.save(data / f"{split}.npy", generator.normal(0, 1, (8, 3, 224, 224)).astype(np.float32))
    print(f"wrote {args.out / 'resnet18.onnx'} and {data}")


if __name__ == "__main__":
    main()
