"""Reads the tensors of a PyTorch checkpoint in the format of before 1.6, without PyTorch.

The file is a row of pickles (magic number, protocol version, system information, the object, the keys of its storages)
and, per storage, its number of elements as int64 and its elements.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

MAGIC = 0x1950A86A20F9469CFC6C
TYPES = {"FloatStorage": np.float32, "LongStorage": np.int64}


@dataclass(frozen=True)
class Tensor:
    """Where a tensor lies."""

    storage: str
    type: type
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]


def rebuild(storage: tuple[Any, ...], offset: int, shape: tuple[int, ...], stride: tuple[int, ...], *_: Any) -> Tensor:
    """Stands in for torch._utils._rebuild_tensor_v2."""
    _, kind, key, _, _, _ = storage
    return Tensor(key, kind, offset, shape, stride)


class Unpickler(pickle.Unpickler):
    """Knows the few names that a checkpoint of tensors needs, and no other: a pickle could name any function."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return rebuild
        if module == "torch" and name in TYPES:
            return TYPES[name]
        raise pickle.UnpicklingError(f"the checkpoint names {module}.{name}")

    def persistent_load(self, pid: tuple[Any, ...]) -> tuple[Any, ...]:
        return pid


def load(path: Path) -> dict[str, np.ndarray]:
    """The state dictionary: name to array."""
    with path.open("rb") as file:
        if Unpickler(file).load() != MAGIC:
            raise ValueError(f"{path} is not a PyTorch checkpoint of before version 1.6")
        Unpickler(file).load()  # protocol version
        Unpickler(file).load()  # system information
        tensors: dict[str, Tensor] = Unpickler(file).load()
        kinds = {tensor.storage: tensor.type for tensor in tensors.values()}
        storages = {key: read_storage(file, kinds[key]) for key in Unpickler(file).load()}
    return {name: view(storages[tensor.storage], tensor) for name, tensor in tensors.items()}


def read_storage(file: IO[bytes], kind: type) -> np.ndarray:
    count = int(np.frombuffer(file.read(8), "<i8")[0])
    return np.frombuffer(file.read(count * np.dtype(kind).itemsize), kind)


def view(storage: np.ndarray, tensor: Tensor) -> np.ndarray:
    strides = [step * storage.itemsize for step in tensor.stride]
    return np.lib.stride_tricks.as_strided(storage[tensor.offset :], tensor.shape, strides).copy()
