"""Train MobileNetV2 on Fashion-MNIST and export it to ONNX.

Needs Debian's python3-torch (see examples/common/training.py):

    PYTHONPATH=. /usr/bin/python3 examples/mobilenet/train.py --out examples/mobilenet/mobilenetv2_fashion.onnx

Topology: MobileNetV2 of width 1.0 (Sandler et al. 2018, table 2) with strides for images of 28 pixels: the stem and
the group of 64 channels keep the resolution, so that the last blocks see 4x4 pixels instead of one.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from examples.common.training import train

# Expansion, output channels, number of blocks, stride of the first (table 2 of the paper, strides as above).
GROUPS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 1), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


def convolution(inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    """Convolution and batch normalisation, 'same' padding."""
    return [
        nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]


class InvertedResidual(nn.Module):
    """Expansion, depthwise convolution and linear projection (Sandler et al. 2018, figure 4d)."""

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
        super().__init__()
        hidden = inputs * expansion
        layers: list[nn.Module] = []
        if expansion != 1:
            layers += [*convolution(inputs, hidden, 1), nn.ReLU6()]
        layers += [*convolution(hidden, hidden, 3, stride, groups=hidden), nn.ReLU6()]
        self.layers = nn.Sequential(*layers, *convolution(hidden, outputs, 1))
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layers(x)
        return x + y if self.residual else y


class MobileNetV2(nn.Module):
    """MobileNetV2 for 28x28 images with one channel and ten classes."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [*convolution(1, 32, 3), nn.ReLU6()]
        channels = 32
        for expansion, outputs, count, stride in GROUPS:
            for block in range(count):
                layers.append(InvertedResidual(channels, outputs, stride if block == 0 else 1, expansion))
                channels = outputs
        self.features = nn.Sequential(*layers, *convolution(channels, 1280, 1), nn.ReLU6())
        self.fc = nn.Linear(1280, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = nn.functional.adaptive_avg_pool2d(self.features(x), 1)
        return self.fc(torch.flatten(x, 1))


if __name__ == "__main__":
    train(MobileNetV2, Path(__file__).parent / "preprocess.json", epochs=4, weight_decay=1e-4)
