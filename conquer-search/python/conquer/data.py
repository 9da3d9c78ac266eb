"""Data sets as tensors: .npy and IDX files and folders of images in, f32 in the model's input shape out, checked.

A data set is a folder or a JSON file `conquer.data`:

    {"format": "conquer.data", "version": 1, "name": "fashion-mnist", "splits": {
        "calibration": {"images": "train-images-idx3-ubyte.gz", "labels": "train-labels-idx1-ubyte.gz",
                        "begin": 57488, "end": 58000}, "search": {...}, "report": {...}}}

Paths are relative to the JSON file. A folder without `data.json` holds `calibration.npy`, `search.npy`, `report.npy`
and, where there are labels, `search_labels.npy` ... Float arrays are taken as they are; bytes are raw images, and
`preprocess.json` says how they become tensors: never a silent default. `groups` (`search_groups.npy`) number what the
images come from, such as the photograph of each crop: intervals then resample groups.
"""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from conquer import preprocess
from conquer.artifacts import read_json
from conquer.errors import ConquerError

Array = npt.NDArray[Any]
DATA_FIELDS = {"format", "version", "name", "splits"}


@dataclass(frozen=True)
class Split:
    """Where one data set lies; rows begin..end of the files."""

    images: Path
    labels: Path | None = None
    groups: Path | None = None
    begin: int = 0
    end: int | None = None

    def overlaps(self, other: Split) -> bool:
        """Whether the two have a row in common."""
        ends = [split.end if split.end is not None else sys.maxsize for split in (self, other)]
        return self.images.resolve() == other.images.resolve() and self.begin < ends[1] and other.begin < ends[0]

    def files(self) -> list[Path]:
        """The files, those of a folder of images one by one."""
        paths = preprocess.images_of(self.images) if self.images.is_dir() else [self.images]
        return [*paths, *(path for path in (self.labels, self.groups) if path)]


def locate(data: Path, name: str) -> Split:
    """The files of one split of a data set."""
    description = data / "data.json" if data.is_dir() else data
    if not data.exists():
        raise ConquerError("no such data set", where=str(data), expected="a folder with .npy files, or a data.json")
    if not description.is_file():
        labels, groups = (data / f"{name}_{kind}.npy" for kind in ("labels", "groups"))
        split = Split(data / f"{name}.npy", labels if labels.is_file() else None, groups if groups.is_file() else None)
    else:
        splits = describe(description).get("splits")
        split = read_split(description, splits if isinstance(splits, dict) else {}, name)
    for path in split.files():
        if not path.is_file():
            raise ConquerError(
                f"the {name} samples are missing",
                where=str(path),
                expected="an .npy or IDX file, or a folder of images",
                fix="see 'conquer doctor' for the example's package",
            )
    return split


def read_split(description: Path, splits: dict[str, Any], name: str) -> Split:
    """One split of a data.json. The report set may share no rows with another one, or its figures would flatter."""
    entry, where = splits.get(name), f"{description}: splits.{name}"
    if not isinstance(entry, dict) or not isinstance(entry.get("images"), str):
        raise ConquerError("missing", where=f"{where}.images", expected="a path")
    for field in ("labels", "groups"):
        if not isinstance(entry.get(field, ""), str):
            raise ConquerError("not text", where=f"{where}.{field}", expected="a path")
    if unknown := set(entry) - {"images", "labels", "groups", "begin", "end"}:
        raise ConquerError(f"unknown field '{min(unknown)}'", where=where)
    begin, end = entry.get("begin", 0), entry.get("end")
    whole = type(begin) is int and (end is None or type(end) is int)
    if not whole or begin < 0 or (end is not None and end <= begin):
        raise ConquerError("not a range of rows", where=where, expected="whole numbers 0 <= begin < end")
    base = description.parent
    labels, groups = (base / entry[field] if field in entry else None for field in ("labels", "groups"))
    split = Split(base / entry["images"], labels, groups, begin, end)
    if name != "report" and "report" in splits and split.overlaps(read_split(description, splits, "report")):
        raise ConquerError("shares rows with the report set", where=where, expected="splits without common rows")
    return split


def describe(path: Path) -> dict[str, Any]:
    """The fields of a data.json."""
    fields: dict[str, Any] = read_json(path, "conquer.data")
    if unknown := set(fields) - DATA_FIELDS:
        raise ConquerError(f"unknown field '{min(unknown)}'", where=str(path), expected=", ".join(sorted(DATA_FIELDS)))
    return fields


def read_array(path: Path) -> Array:
    """One .npy or (gzipped) IDX file."""
    try:
        raw = path.read_bytes()
        if path.suffix == ".gz":
            raw = gzip.decompress(raw)
        if raw[:6] == b"\x93NUMPY":
            return np.load(io.BytesIO(raw), allow_pickle=False)  # type: ignore[no-any-return]
        if raw[:3] == b"\0\0\x08":
            rank = raw[3]
            shape = np.frombuffer(raw, ">i4", count=rank, offset=4)
            return np.frombuffer(raw, np.uint8, offset=4 + 4 * rank).reshape(shape)
    except (OSError, EOFError, IndexError, ValueError, MemoryError, zlib.error) as error:
        raise ConquerError(f"cannot read: {error}", where=str(path)) from None
    raise ConquerError("neither .npy nor IDX of bytes", where=str(path))


def rows(path: Path, split: Split) -> Array:
    """The rows of a file that belong to the split; a range that the file does not have is a mistake."""
    array = read_array(path)
    if array.ndim == 0:
        raise ConquerError("a single number", where=str(path), expected="an array with a row for each sample")
    count = len(array)
    if split.begin > count or (split.end or 0) > count:
        end = "" if split.end is None else split.end
        raise ConquerError(f"rows {split.begin} to {end}", where=str(path), expected=f"rows of 0 to {count}")
    return array[split.begin : split.end]


@dataclass(frozen=True)
class Samples:
    """The tensors of one split, f32 [n, ...], its labels and the groups that its images come in, i64 [n]."""

    images: npt.NDArray[np.float32]
    labels: npt.NDArray[np.int64] | None
    groups: npt.NDArray[np.int64] | None


def load(split: Split, shape: list[int], spec: Path | None, classes: int) -> Samples:
    """Samples of a model input of `shape` (its batch is free) and labels from 0 to `classes` - 1; refuses what would
    give silent nonsense.
    """
    where = str(split.images)
    names: list[str] = []
    images: Array
    if split.images.is_dir():
        images, names = preprocess.read_folder(split.images, split.begin, split.end, read_spec(spec, where))
    else:
        images = rows(split.images, split)
    if images.dtype == np.uint8:
        images = preprocess.tensors(images, read_spec(spec, where), where)
    if images.dtype not in (np.float32, np.float64):
        raise ConquerError(f"samples of type {images.dtype}", where=where, expected="float32 tensors or uint8 images")
    with np.errstate(over="ignore"):  # infinity is refused below
        samples = np.ascontiguousarray(images, np.float32)
    if len(samples) == 0:
        raise ConquerError("no samples", where=where, expected="at least one")
    if list(samples.shape[1:]) != shape[1:]:
        raise ConquerError(
            f"samples of shape {list(samples.shape[1:])}", where=where, expected=f"the model's input {shape[1:]}"
        )
    if not np.isfinite(samples).all():
        bad = int(np.nonzero(~np.isfinite(samples).reshape(len(samples), -1).all(1))[0][0])
        raise ConquerError(f"sample {split.begin + bad} holds NaN or infinity", where=where, expected="finite numbers")
    labels = whole_numbers(split.labels, split, names, len(samples))
    if labels is not None and not ((labels >= 0) & (labels < classes)).all():
        bad = int(np.nonzero((labels < 0) | (labels >= classes))[0][0])
        raise ConquerError(
            f"label {labels[bad]} in row {split.begin + bad}", where=str(split.labels), expected=f"0 to {classes - 1}"
        )
    return Samples(samples, labels, whole_numbers(split.groups, split, names, len(samples)))


def read_spec(path: Path | None, where: str) -> preprocess.Spec:
    if path is None:
        raise ConquerError(
            "raw images without preprocess.json", where=where, fix="give --preprocess, or put it beside the model"
        )
    return preprocess.read(path)


def whole_numbers(path: Path | None, split: Split, names: list[str], count: int) -> npt.NDArray[np.int64] | None:
    """Labels or groups, one for each sample; None without a file. A text file has lines `name number`."""
    if path is None:
        return None
    array = by_name(path, names) if names and path.suffix == ".txt" else rows(path, split)
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) != count:
        raise ConquerError(
            f"array {array.dtype}{list(array.shape)}", where=str(path), expected=f"{count} whole numbers"
        )
    return array.astype(np.int64)


def by_name(path: Path, names: list[str]) -> Array:
    """The numbers of the images of a folder from a text file."""
    numbers: dict[str, int] = {}
    for line, text in enumerate(path.read_text(errors="replace").splitlines(), 1):
        name, _, number = text.strip().rpartition(" ")
        if not text.strip():
            continue
        if not name or not number.isdecimal():
            raise ConquerError(f"'{text[:80]}'", where=f"{path}: line {line}", expected="a file name and a number")
        numbers[name.strip()] = int(number)
    if missing := [name for name in names if name not in numbers]:
        raise ConquerError(f"no number for '{missing[0]}'", where=str(path), expected="one line for each image")
    return np.array([numbers[name] for name in names], np.int64)


def set_name(data: Path) -> str:
    """What a data set calls itself, for reports."""
    description = data / "data.json" if data.is_dir() else data
    name = describe(description).get("name") if description.is_file() else None
    return str(name or data.resolve().name)
