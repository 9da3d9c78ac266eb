"""Training and ONNX export of the example networks for Fashion-MNIST.

Needs Debian's python3-torch (nothing else in the project does):

    apt-get install python3-torch dataset-fashion-mnist
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn

from examples.common.fashion_mnist import load_split


def load(split: str, preprocess: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """Images (N, 1, 28, 28) of one split, preprocessed as the file says, and their labels."""
    spec = json.loads(preprocess.read_text())
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
    """Top-1 accuracy of the model in inference mode."""
    model.eval()
    with torch.no_grad():
        hits = sum(int((model(a).argmax(1) == b).sum()) for a, b in zip(x.split(500), y.split(500), strict=True))
    return hits / len(x)


def fit(
    model: nn.Module,
    preprocess: Path,
    *,
    epochs: int,
    batch: int,
    rate: float,
    weight_decay: float,
    generator: torch.Generator,
) -> None:
    """SGD with Nesterov momentum and a one-cycle learning rate; prints the top-1 of the search split by epoch."""
    x, y = load("train", preprocess)
    val_x, val_y = load("search", preprocess)
    steps = epochs * (len(x) // batch)
    optimizer = torch.optim.SGD(model.parameters(), rate, momentum=0.9, weight_decay=weight_decay, nesterov=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps, pct_start=0.25)
    for epoch in range(epochs):
        model.train()
        start = time.monotonic()
        order = torch.randperm(len(x), generator=generator)
        for step in range(len(x) // batch):
            pick = order[step * batch : (step + 1) * batch]
            images = augment(x[pick], generator).to(memory_format=torch.channels_last)
            loss = nn.functional.cross_entropy(model(images), y[pick])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            if step % 50 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.3f} {time.monotonic() - start:.0f} s", flush=True)
        print(f"epoch {epoch}: top-1 on the search split {accuracy(model, val_x, val_y):.4f}", flush=True)


def export(model: nn.Module, out: Path) -> None:
    """Write the model as ONNX opset 13 with a dynamic batch dimension, input `image` and output `logits`."""
    model.to(memory_format=torch.contiguous_format).eval()
    torch.onnx.export(
        model,
        torch.zeros(1, 1, 28, 28),
        str(out),
        opset_version=13,
        input_names=["image"],
        output_names=["logits"],
        dynamic_axes={"image": {0: "N"}, "logits": {0: "N"}},
    )


def train(
    make: Callable[[], nn.Module], preprocess: Path, *, epochs: int, weight_decay: float, rate: float = 0.1
) -> None:
    """The command line of a training script: train the network `make` returns, export it, judge it once."""
    parser = argparse.ArgumentParser(description="Train the example network and export it to ONNX.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    generator = torch.Generator().manual_seed(args.seed)
    model = make().to(memory_format=torch.channels_last)
    fit(
        model,
        preprocess,
        epochs=args.epochs,
        batch=args.batch,
        rate=rate,
        weight_decay=weight_decay,
        generator=generator,
    )
    export(model, args.out)
    test_x, test_y = load("report", preprocess)
    print(f"top-1 on the report split (10,000 test images) {accuracy(model, test_x, test_y):.4f}")
