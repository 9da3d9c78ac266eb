"""Fashion-MNIST from Debian's package dataset-fashion-mnist, split into the data sets the examples use.

The 60,000 training images are split by position, so that every run sees the same split:

    train        0 .. 57,487   weights are fitted on these
    calibration  57,488 .. 57,999  (512)   ranges of the activations
    search       58,000 .. 59,999  (2,000) accuracy seen by the search
    report       the 10,000 test images, touched once, for the final front
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import numpy.typing as npt

FOLDER = Path("/usr/share/datasets/fashion-mnist")
SPLITS = {
    "train": ("train", 0, 57_488),
    "calibration": ("train", 57_488, 58_000),
    "search": ("train", 58_000, 60_000),
    "report": ("t10k", 0, 10_000),
}


def read_idx(path: Path) -> npt.NDArray[np.uint8]:
    """Read a gzipped IDX file of unsigned bytes (format: http://yann.lecun.com/exdb/mnist/)."""
    data = gzip.decompress(path.read_bytes())
    if data[:3] != b"\0\0\x08":
        raise ValueError(f"{path}: not an IDX file of unsigned bytes")
    rank = data[3]
    shape = np.frombuffer(data, ">i4", count=rank, offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def load_split(name: str) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Images [n, 28, 28] as bytes and labels [n] of one split."""
    stem, begin, end = SPLITS[name]
    images = read_idx(FOLDER / f"{stem}-images-idx3-ubyte.gz")
    labels = read_idx(FOLDER / f"{stem}-labels-idx1-ubyte.gz")
    return images[begin:end], labels[begin:end].astype(np.int64)
