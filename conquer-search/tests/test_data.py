"""Data sets: every way in which samples can be wrong is one message."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from conquer import data
from conquer.errors import ConquerError

SHAPE = [1, 1, 4, 3]
SPEC = {"format": "conquer.preprocess", "version": 1, "layout": "NCHW", "channels": "L", "size": [4, 3], "resize": "none", "crop": "none", "scale": 1 / 255, "mean": [0.5], "std": [0.25]}  # fmt: skip  # noqa: E501


def save(folder: Path, samples: Any, labels: Any = None) -> Path:
    np.save(folder / "search.npy", samples)
    if labels is not None:
        np.save(folder / "search_labels.npy", labels)
    return folder


def load(folder: Path, spec: Path | None = None) -> Any:
    return data.load(data.locate(folder, "search"), SHAPE, spec, 20)


def test_tensors_are_taken_as_they_are(tmp_path: Path) -> None:
    samples = np.random.default_rng(1).standard_normal((5, 1, 4, 3))
    np.save(tmp_path / "search_groups.npy", np.array([7, 7, 8, 8, 8]))
    got = load(save(tmp_path, samples, np.arange(5, dtype=np.int32)))
    assert got.images.dtype == np.float32 and np.array_equal(got.images, samples.astype(np.float32))
    assert got.labels.dtype == np.int64 and list(got.labels) == [0, 1, 2, 3, 4]
    assert list(got.groups) == [7, 7, 8, 8, 8]
    (tmp_path / "search_labels.npy").unlink()
    assert load(tmp_path).labels is None


def test_raw_images_need_a_description(tmp_path: Path) -> None:
    raw = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    with pytest.raises(ConquerError, match=r"raw images without preprocess\.json"):
        load(save(tmp_path, raw))
    spec = tmp_path / "preprocess.json"
    spec.write_text(json.dumps(SPEC))
    got = load(tmp_path, spec).images
    assert got.shape == (2, 1, 4, 3)
    assert np.allclose(got[:, 0], (raw / 255 - 0.5) / 0.25, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"std": [0]}, "wrong mean or std"),
        ({"mean": [0, 1]}, "wrong mean or std"),
        ({"channels": "RGB", "mean": [0, 0, 0], "std": [1, 1, 1]}, "channels RGB"),
        ({"channels": "CMYK"}, "channels: 'CMYK'; expected one of L, RGB, BGR"),
        ({"layout": "CHW"}, "layout: 'CHW'; expected one of NCHW, NHWC"),
        ({"mean": ["a"]}, "wrong mean, std or scale"),
        ({"scale": None}, "wrong mean, std or scale"),
        ({"size": [28, 28]}, "image of 4x3"),
        ({"extra": 1}, "field 'extra' is missing or unknown"),
        ({"version": 2}, "unexpected format"),
    ],
)
def test_wrong_descriptions(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    spec = tmp_path / "preprocess.json"
    spec.write_text(json.dumps(SPEC | change))
    with pytest.raises(ConquerError, match=message):
        load(save(tmp_path, np.zeros((2, 4, 3), np.uint8)), spec)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (np.zeros((0, 1, 4, 3), np.float32), "no samples"),
        (np.zeros((2, 1, 3, 4), np.float32), r"samples of shape \[1, 3, 4\]; expected the model's input \[1, 4, 3\]"),
        (np.array([0, 1, np.inf])[:, None, None, None] * np.ones((3, 1, 4, 3)), "sample 1? ?.*holds NaN or infinity"),
        (np.full((2, 1, 4, 3), np.nan, np.float32), "sample 0 holds NaN or infinity"),
        (np.zeros((2, 1, 4, 3), np.int64), "samples of type int64"),
        (np.zeros(0, np.float32), "no samples"),
        (np.float32(1), "a single number"),
    ],
)
def test_wrong_samples(tmp_path: Path, samples: Any, message: str) -> None:
    with np.errstate(invalid="ignore"), pytest.raises(ConquerError, match=message):
        load(save(tmp_path, samples))


def test_labels_are_classes_of_the_network(tmp_path: Path) -> None:
    for label in (20, -1):
        save(tmp_path, np.zeros((3, 1, 4, 3), np.float32), np.array([0, 19, label]))
        with pytest.raises(ConquerError, match=f"label {label} in row 2; expected 0 to 19"):
            load(tmp_path)


@pytest.mark.parametrize("labels", [np.zeros(3), np.zeros(2, np.int64), np.zeros((3, 1), np.int64)])
def test_wrong_labels(tmp_path: Path, labels: Any) -> None:
    with pytest.raises(ConquerError, match="expected 3 whole numbers"):
        load(save(tmp_path, np.zeros((3, 1, 4, 3), np.float32), labels))


def test_a_folder_of_images(tmp_path: Path) -> None:
    """In the order of their names, resized and cropped, with labels by name."""
    random = np.random.default_rng(3)
    originals = {f"{name}.png": random.integers(0, 256, (8, 6), np.uint8) for name in "cab"}
    (tmp_path / "images").mkdir()
    for name, pixels in originals.items():
        Image.fromarray(pixels).save(tmp_path / "images" / name)
    (tmp_path / "images" / "notes.md").write_text("no image")
    (tmp_path / "labels.txt").write_text("c.png 3\n\na.png 1\nb.png 2\nother.png 9\n")
    spec = tmp_path / "preprocess.json"
    spec.write_text(json.dumps(SPEC | {"crop": "center"}))
    split = data.Split(tmp_path / "images", tmp_path / "labels.txt", begin=1)
    got = data.load(split, SHAPE, spec, 20)
    assert list(got.labels) == [2, 3]
    for image, name in zip(got.images, ("b.png", "c.png"), strict=True):
        assert np.allclose(image[0], (originals[name][2:6, 2:5] / 255 - 0.5) / 0.25, atol=1e-5)
    # Half as large: each pixel is a mean of its neighbourhood, and a constant image stays what it is.
    spec.write_text(json.dumps(SPEC | {"resize": 3}))
    Image.fromarray(np.full((8, 6), 77, np.uint8)).save(tmp_path / "images" / "b.png")
    got = data.load(split, SHAPE, spec, 20)
    assert np.allclose(got.images[0], (77 / 255 - 0.5) / 0.25, atol=1e-5)
    assert got.images[1].std() < ((originals["c.png"] / 255 - 0.5) / 0.25).std()
    # The same pixels as an array are the same tensor.
    np.save(tmp_path / "x.npy", np.stack([np.full((8, 6), 77, np.uint8), originals["c.png"]]))
    assert np.array_equal(data.load(data.Split(tmp_path / "x.npy"), SHAPE, spec, 20).images, got.images)


@pytest.mark.parametrize(
    ("labels", "change", "message"),
    [
        ("a.png 1", {}, "no number for 'b.png'"),
        ("a.png one", {}, "labels.txt: line 1: 'a.png one'"),
        ("a.png 1\nb.png 2", {"crop": "none"}, "a.png: image of 8x6 with 1 channels; expected 4x3"),
        ("a.png 1\nb.png 2", {"resize": 0}, "resize: 0; expected none, or"),
        ("a.png 1\nb.png 2", {"resize": 2}, "a.png: image of 2x2; expected at least 4x3"),
        ("a.png 1\nb.png 2", {"crop": "left"}, "crop: 'left'; expected one of none, center"),
        ("a.png 1\nb.png 2", {"size": [4]}, r"size: \[4\]; expected \[height, width\]"),
    ],
)
def test_wrong_folders_of_images(tmp_path: Path, labels: str, change: dict[str, Any], message: str) -> None:
    (tmp_path / "images").mkdir()
    for name in "ab":
        Image.fromarray(np.zeros((8, 6) if change.get("resize") != 2 else (6, 6), np.uint8)).save(
            tmp_path / "images" / f"{name}.png"
        )
    (tmp_path / "labels.txt").write_text(labels)
    (tmp_path / "preprocess.json").write_text(json.dumps(SPEC | {"crop": "center"} | change))
    split = data.Split(tmp_path / "images", tmp_path / "labels.txt")
    with pytest.raises(ConquerError, match=message):
        data.load(split, SHAPE, tmp_path / "preprocess.json", 20)


def test_a_damaged_image_is_named(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    (tmp_path / "preprocess.json").write_text(json.dumps(SPEC))
    with pytest.raises(ConquerError, match=r"a\.png: cannot read the image"):
        data.load(data.Split(tmp_path / "images"), SHAPE, tmp_path / "preprocess.json", 20)


def test_idx_files_and_ranges(tmp_path: Path) -> None:
    images = np.arange(10 * 12, dtype=np.uint8).reshape(10, 4, 3)
    head = b"\0\0\x08\x03" + np.array([10, 4, 3], ">i4").tobytes()
    (tmp_path / "x.gz").write_bytes(gzip.compress(head + images.tobytes()))
    (tmp_path / "y").write_bytes(b"\0\0\x08\x01" + np.array([10], ">i4").tobytes() + bytes(range(10)))
    (tmp_path / "preprocess.json").write_text(json.dumps(SPEC))
    splits = {"search": {"images": "x.gz", "labels": "y", "begin": 3, "end": 7}}
    (tmp_path / "data.json").write_text(
        json.dumps({"format": "conquer.data", "version": 1, "name": "n", "splits": splits})
    )
    got = load(tmp_path, tmp_path / "preprocess.json")
    assert list(got.labels) == [3, 4, 5, 6]
    assert np.allclose(got.images[:, 0], (images[3:7] / 255 - 0.5) / 0.25, atol=1e-6)
    assert data.set_name(tmp_path) == data.set_name(tmp_path / "data.json") == "n"
    with pytest.raises(ConquerError, match=r"splits\.report\.images: missing"):
        data.locate(tmp_path, "report")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"images": "a", "stray": 1}, "unknown field 'stray'"),
        ({"images": "a", "begin": "0"}, "range"),
        ({"images": "a", "begin": 4, "end": 4}, "range"),
        ({"images": "a", "labels": 3}, r"splits\.search\.labels: not text"),
        ({"images": "a"}, "samples are missing"),
    ],
)
def test_wrong_data_json(tmp_path: Path, entry: dict[str, Any], message: str) -> None:
    (tmp_path / "data.json").write_text(
        json.dumps({"format": "conquer.data", "version": 1, "splits": {"search": entry}})
    )
    with pytest.raises(ConquerError, match=message):
        data.locate(tmp_path, "search")


def test_rows_that_the_file_does_not_have(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((10, 1, 4, 3), np.float32))
    for begin, end in ((3, 11), (11, None)):
        with pytest.raises(ConquerError, match=rf"x\.npy: rows {begin} to .*; expected rows of 0 to 10"):
            data.load(data.Split(tmp_path / "x.npy", begin=begin, end=end), SHAPE, None, 20)


def test_the_report_set_shares_no_rows(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((10, 1, 4, 3), np.float32))
    for end, fine in ((5, True), (6, False), (None, False)):
        search = {"images": "x.npy", "end": end} if end else {"images": "x.npy"}
        splits = {"search": search, "report": {"images": "x.npy", "begin": 5}}
        (tmp_path / "data.json").write_text(json.dumps({"format": "conquer.data", "version": 1, "splits": splits}))
        if fine:
            data.locate(tmp_path, "search")
            continue
        with pytest.raises(ConquerError, match=r"splits\.search: shares rows with the report set"):
            data.locate(tmp_path, "search")


def test_unknown_fields_of_data_json(tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text(json.dumps({"format": "conquer.data", "version": 1, "stray": 1, "splits": {}}))
    with pytest.raises(ConquerError, match=r"data\.json: unknown field 'stray'"):
        data.locate(tmp_path, "search")


def test_damaged_gzip(tmp_path: Path) -> None:
    whole = gzip.compress(bytes(range(256)) * 4)
    (tmp_path / "x.gz").write_bytes(whole[:12] + b"\xff" * 8 + whole[20:])
    with pytest.raises(ConquerError, match=r"x\.gz: cannot read"):
        data.read_array(tmp_path / "x.gz")


@pytest.mark.parametrize("content", [b"", b"\0\0\x08", b"\x93NUMPY\x01\x00 truncated", b"\0\0\x08\x03\0\0", b"text"])
def test_unreadable_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "search.npy").write_bytes(content)
    with pytest.raises(ConquerError, match=r"search\.npy: (cannot read|neither)"):
        load(tmp_path)


def test_no_data_set(tmp_path: Path) -> None:
    with pytest.raises(ConquerError, match="no such data set"):
        data.locate(tmp_path / "none", "search")
    with pytest.raises(ConquerError, match="the search samples are missing"):
        data.locate(tmp_path, "search")
