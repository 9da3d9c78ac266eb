"""Train ResNet-18 of width 32 on Fashion-MNIST and export it to ONNX.

Needs Debian's python3-torch (nothing else in the project does):

    apt-get install python3-torch dataset-fashion-mnist
    PYTHONPATH=. /usr/bin/python3 examples/resnet/train.py --out examples/resnet/resnet18_fashion.onnx

Topology: ResNet-18 (He et al. 2016, table 1) with a 3x3 stem of stride 1 and no max pooling, as is usual for
images of about 32 pixels, and half the width (32, 64, 128, 256 channels), which keeps the file under 12 MB.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

from examples.common.fashion_mnist import load_split


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


def load(split: str) -> tuple[torch.Tensor, torch.Tensor]:
    """One split, preprocessed as preprocess.json says."""
    spec = json.loads((Path(__file__).parent / "preprocess.json").read_text())
    images, labels = load_split(split)
    x = (images.astype(np.float32) * np.float32(spec["scale"]) - spec["mean"][0]) / spec["std"][0]
    return torch.from_numpy(x.astype(np.float32))[:, None], torch.from_numpy(labels)


def augment(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Mirror half of the images and shift the batch by up to two pixels."""
    flip = torch.rand(len(x), generator=generator) < 0.5
    x = torch.where(flip[:, None, None, None], x.flip(3), x)
    dy, dx = torch.randint(0, 5, (2,), generator=generator).tolist()
    padded = nn.functional.pad(x, (2, 2, 2, 2), mode="replicate")
    return padded[:, :, dy : dy + 28, dx : dx + 28]


def accuracy(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    model.eval()
    with torch.no_grad():
        hits = sum(int((model(a).argmax(1) == b).sum()) for a, b in zip(x.split(500), y.split(500), strict=True))
    return hits / len(x)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the example network and export it to ONNX.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    generator = torch.Generator().manual_seed(args.seed)
    x, y = load("train")
    val_x, val_y = load("search")
    model = ResNet18().to(memory_format=torch.channels_last)
    steps = args.epochs * (len(x) // args.batch)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=5e-4, nesterov=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=steps, pct_start=0.25)
    for epoch in range(args.epochs):
        model.train()
        start = time.monotonic()
        order = torch.randperm(len(x), generator=generator)
        for step in range(len(x) // args.batch):
            pick = order[step * args.batch : (step + 1) * args.batch]
            batch = augment(x[pick], generator).to(memory_format=torch.channels_last)
            loss = nn.functional.cross_entropy(model(batch), y[pick])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            if step % 50 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.3f} {time.monotonic() - start:.0f} s", flush=True)
        print(f"epoch {epoch}: top-1 on the search split {accuracy(model, val_x, val_y):.4f}", flush=True)
        torch.save(model.state_dict(), args.out.with_suffix(".pt"))

    model.to(memory_format=torch.contiguous_format).eval()
    torch.onnx.export(
        model,
        torch.zeros(1, 1, 28, 28),
        str(args.out),
        opset_version=13,
        input_names=["image"],
        output_names=["logits"],
        dynamic_axes={"image": {0: "N"}, "logits": {0: "N"}},
    )
    test_x, test_y = load("report")
    print(f"top-1 on the report split (10,000 test images) {accuracy(model, test_x, test_y):.4f}")


if __name__ == "__main__":
    main()
