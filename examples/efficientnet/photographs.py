"""Write crops of photographs for calibrating and judging ImageNet networks where no labelled images are at hand.

    scripts/00_setup.sh --efficientnet
    .venv/bin/python examples/efficientnet/photographs.py --out runs/efficientnet/data

writes {calibration,search,report}.npy, bytes [n, 224, 224, 3] in RGB, {...}_groups.npy, the photograph that each crop
is from, and data.json. The three sets are of different photographs, so that no figure is of what calibration or search
have seen: calibration of those that scikit-image and scikit-learn carry, search and report of every other one of
Debian's opencv-doc. Crops of one photograph are alike: intervals must resample photographs, not crops.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
from skimage import io, transform

SIZE = 224
OPENCV = Path("/usr/share/doc/opencv-doc/examples/data")
PACKAGED = {
    "skimage": "astronaut.png chelsea.png coffee.png rocket.jpg motorcycle_left.png hubble_deep_field.jpg retina.jpg "
    "ihc.png color.png",
    "sklearn": "china.jpg flower.jpg",
}
FOLDERS = {"skimage": "data", "sklearn": "datasets/images"}
DEBIAN = (
    "aero1.jpg aero3.jpg aloeL.jpg apple.jpg baboon.jpg basketball1.png board.jpg box_in_scene.png building.jpg "
    "butterfly.jpg fruits.jpg graf1.png home.jpg leuvenA.jpg licenseplate_motion.jpg messi5.jpg orange.jpg "
    "rubberwhale1.png smarties.png squirrel_cls.jpg stuff.jpg pic2.png"
)


def packaged() -> list[Path]:
    """The photographs that come with Python packages."""
    paths = []
    for package, names in PACKAGED.items():
        spec = importlib.util.find_spec(package)
        assert spec and spec.origin
        paths += [Path(spec.origin).parent / FOLDERS[package] / name for name in names.split()]
    return paths


def load(path: Path) -> np.ndarray:
    """One photograph as float64 [height, width, 3] in 0..1."""
    image = io.imread(path)
    image = np.stack([image] * 3, -1) if image.ndim == 2 else image[..., :3]
    return image.astype(np.float64) / (255.0 if image.max() > 1 else 1.0)


def crops(paths: list[Path], count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """`count` squares of a quarter to all of the shorter side's area, half of them mirrored, and their photographs."""
    images = [load(path) for path in paths]
    random = np.random.default_rng(seed)
    result = np.empty((count, SIZE, SIZE, 3), np.uint8)
    groups = np.arange(count) % len(images)
    for number, group in enumerate(groups):
        image = images[group]
        height, width = image.shape[:2]
        side = int(min(height, width) * random.uniform(0.25, 1.0) ** 0.5)
        top, left = random.integers(height - side + 1), random.integers(width - side + 1)
        crop = transform.resize(image[top : top + side, left : left + side], (SIZE, SIZE), anti_aliasing=True)
        if random.random() < 0.5:
            crop = crop[:, ::-1]
        result[number] = np.clip(np.rint(crop * 255), 0, 255)
    return result, groups.astype(np.int64)


def main() -> int:
    parser = argparse.ArgumentParser(description="Write crops of photographs as a data set.")
    parser.add_argument("--out", type=Path, required=True, help="folder for the crops and data.json")
    args = parser.parse_args()
    debian = [OPENCV / name for name in DEBIAN.split()]
    splits = {
        "calibration": (packaged(), 128, 1),
        "search": (debian[0::2], 256, 2),
        "report": (debian[1::2], 256, 3),
    }
    for path in [path for paths, _, _ in splits.values() for path in paths]:
        if not path.is_file():
            print(f"photographs: {path} is missing; run scripts/00_setup.sh --efficientnet", file=sys.stderr)
            return 1
    args.out.mkdir(parents=True, exist_ok=True)
    entries = {}
    for name, (paths, count, seed) in splits.items():
        images, groups = crops(paths, count, seed)
        np.save(args.out / f"{name}.npy", images)
        np.save(args.out / f"{name}_groups.npy", groups)
        entries[name] = {"images": f"{name}.npy", "groups": f"{name}_groups.npy"}
    description = {"format": "conquer.data", "version": 1, "name": "photograph crops", "splits": entries}
    (args.out / "data.json").write_text(json.dumps(description, indent=2) + "\n")
    print(f"wrote {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
