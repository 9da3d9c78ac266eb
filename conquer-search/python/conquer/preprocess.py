"""Images as tensors: preprocess.json says how, never a silent default.

    {"format": "conquer.preprocess", "version": 1, "layout": "NCHW", "channels": "RGB", "size": [224, 224],
     "resize": 256, "crop": "center", "scale": 0.00392156862745098, "mean": [0.485, ...], "std": [0.229, ...]}

A tensor element is (value * scale - mean[c]) / std[c] of the image after resize and crop.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from conquer.artifacts import read_json
from conquer.errors import ConquerError

Bytes = npt.NDArray[np.uint8]
CHANNELS = {"L": 1, "RGB": 3, "BGR": 3}
FIELDS = {"format", "version", "layout", "channels", "size", "resize", "crop", "scale", "mean", "std"}
SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".webp", ".ppm", ".pgm"}
MAX_SIDE = 1 << 14


@dataclass(frozen=True)
class Spec:
    """A checked preprocess.json."""

    where: str
    layout: str  # NCHW or NHWC
    channels: str  # L, RGB or BGR
    size: tuple[int, int]  # height and width of the tensor
    resize: int | None  # length of the shorter side before the crop
    crop: bool  # the centre, of `size`
    scale: np.float32
    mean: npt.NDArray[np.float64]
    std: npt.NDArray[np.float64]


def read(path: Path) -> Spec:
    """A preprocess.json; every mistake is one message that names the field."""
    spec = read_json(path, "conquer.preprocess")
    if set(spec) != FIELDS:
        wrong = min(set(spec) ^ FIELDS)
        raise ConquerError(
            f"field '{wrong}' is missing or unknown", where=str(path), expected=", ".join(sorted(FIELDS))
        )

    def refuse(field: str, expected: str) -> ConquerError:
        return ConquerError(f"{spec[field]!r}", where=f"{path}: {field}", expected=expected)

    for field, allowed in (("layout", ("NCHW", "NHWC")), ("channels", tuple(CHANNELS)), ("crop", ("none", "center"))):
        if spec[field] not in allowed:
            raise refuse(field, f"one of {', '.join(allowed)}")
    if not (isinstance(spec["size"], list) and len(spec["size"]) == 2 and all(map(is_side, spec["size"]))):
        raise refuse("size", "[height, width]")
    if spec["resize"] != "none" and not is_side(spec["resize"]):
        raise refuse("resize", "none, or the length of the shorter side")
    try:
        mean, std = (np.asarray(spec[name], np.float64) for name in ("mean", "std"))
        scale = np.float32(spec["scale"])
        if not np.isfinite([*mean.ravel(), *std.ravel(), scale]).all():
            raise ValueError("not finite")
    except (TypeError, ValueError) as error:
        raise ConquerError(f"wrong mean, std or scale: {error}", where=str(path), expected="numbers") from None
    channels = CHANNELS[spec["channels"]]
    if mean.shape != (channels,) or std.shape != (channels,) or not (std > 0).all():
        raise ConquerError("wrong mean or std", where=str(path), expected=f"{channels} numbers each, std above 0")
    height, width = spec["size"]
    resize = None if spec["resize"] == "none" else spec["resize"]
    crop = spec["crop"] == "center"
    return Spec(str(path), spec["layout"], spec["channels"], (height, width), resize, crop, scale, mean, std)


def is_side(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MAX_SIDE


def fit(image: Image.Image, spec: Spec, where: str) -> Bytes:
    """Resize the shorter side (bilinear, with antialiasing, as torchvision does it), then cut out the centre."""
    image = image.convert("L" if spec.channels == "L" else "RGB")
    if spec.resize:
        factor = spec.resize / min(image.size)
        width, height = (max(spec.resize, int(side * factor)) for side in image.size)
        image = image.resize((width, height), Image.Resampling.BILINEAR)
    height, width = spec.size
    if spec.crop:
        if image.width < width or image.height < height:
            raise ConquerError(
                f"image of {image.height}x{image.width}", where=where, expected=f"at least {height}x{width} to crop"
            )
        left, top = round((image.width - width) / 2), round((image.height - height) / 2)
        image = image.crop((left, top, left + width, top + height))
    array = np.asarray(image, np.uint8)
    return array[..., None] if array.ndim == 2 else array


def images_of(folder: Path) -> list[Path]:
    """The images of a folder in the order of their names."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)


def read_folder(folder: Path, begin: int, end: int | None, spec: Spec) -> tuple[Bytes, list[str]]:
    """The images of a folder in the order of their names, fitted, and their names."""
    paths = images_of(folder)
    if begin > len(paths) or (end or 0) > len(paths):
        raise ConquerError(f"images {begin} to {end}", where=str(folder), expected=f"0 to {len(paths)}")
    chosen = paths[begin:end]
    if not chosen:
        raise ConquerError("no images", where=str(folder), expected=f"files of {', '.join(sorted(SUFFIXES))}")
    result = np.empty((len(chosen), *spec.size, CHANNELS[spec.channels]), np.uint8)
    for number, path in enumerate(chosen):
        try:
            with Image.open(path) as image:
                fitted = fit(image, spec, str(path))
        except (OSError, ValueError, Image.DecompressionBombError) as error:
            raise ConquerError(f"cannot read the image: {error}", where=str(path)) from None
        check_size(fitted, spec, str(path))
        result[number] = fitted
    return result, [path.name for path in chosen]


def check_size(image: Bytes, spec: Spec, where: str) -> None:
    if image.shape != (*spec.size, CHANNELS[spec.channels]):
        raise ConquerError(
            f"image of {image.shape[0]}x{image.shape[1]} with {image.shape[2]} channels",
            where=where,
            expected=f"{spec.size[0]}x{spec.size[1]} with {CHANNELS[spec.channels]} ({spec.where})",
            fix="give resize and crop in preprocess.json",
        )


def tensors(images: Bytes, spec: Spec, where: str) -> npt.NDArray[np.float32]:
    """Raw images [n, H, W] or [n, H, W, C] as f32 tensors."""
    if images.ndim == 3:
        images = images[..., None]
    if images.ndim != 4 or images.shape[3] != CHANNELS[spec.channels]:
        raise ConquerError(
            f"images of shape {list(images.shape[1:])}", where=where, expected=f"channels {spec.channels}"
        )
    if (spec.resize or spec.crop) and len(images):
        squeezed = images[..., 0] if spec.channels == "L" else images
        images = np.stack([fit(Image.fromarray(image), spec, where) for image in squeezed])
    if len(images):
        check_size(images[0], spec, where)
    if spec.channels == "BGR":
        images = images[..., ::-1]  # files hold RGB
    tensor = ((images.astype(np.float32) * spec.scale - spec.mean) / spec.std).astype(np.float32)
    return tensor.transpose(0, 3, 1, 2) if spec.layout == "NCHW" else tensor
