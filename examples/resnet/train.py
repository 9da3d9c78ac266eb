"""Train ResNet-18 of width 32 on Fashion-MNIST and export it to ONNX.

Needs Debian's python3-torch (see examples/common/training.py):

    PYTHONPATH=. /usr/bin/python3 examples/resnet/train.py --out examples/resnet/resnet18_fashion.onnx

Topology: ResNet-18 (He et al. 2016, table 1) with a 3x3 stem of stride 1 and no max pooling, as is usual for
images of about 32 pixels, and half the width (32, 64, 128, 256 channels), which keeps the file under 12 MB.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from examples.common.training import train


class BasicBlock(nn.Module):
    """Two 3x3 convolutions and a shortcut (He et al. 2016, figure 5 left)."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class ResNet18(nn.Module):
    """ResNet-18 for 28x28 images with one channel and ten classes."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        blocks: list[nn.Module] = []
        channels = width
        for stage in range(4):
            outputs = width << stage
            blocks += [BasicBlock(channels, outputs, 1 if stage == 0 else 2), BasicBlock(outputs, outputs, 1)]
            channels = outputs
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(channels, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.blocks(torch.relu(self.bn1(self.conv1(x))))
        x = nn.functional.adaptive_avg_pool2d(x, 1)
        return self.fc(torch.flatten(x, 1))


if __name__ == "__main__":
    train(ResNet18, Path(__file__).parent / "preprocess.json", epochs=6, weight_decay=5e-4)
