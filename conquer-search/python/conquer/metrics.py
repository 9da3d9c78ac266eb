"""Accuracy figures with their intervals, from one hit or miss per image."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from conquer.errors import ConquerError

Z95 = 1.959963984540054  # two-sided 95 % quantile of the normal distribution
RESAMPLES = 2000  # of the bootstrap


@dataclass(frozen=True)
class Estimate:
    """A fraction with its 95 % interval."""

    value: float
    low: float
    high: float

    def as_list(self) -> list[float]:
        return [self.low, self.high]


def wilson(hits: int, images: int) -> Estimate:
    """Wilson's score interval of a proportion (Wilson 1927; Brown, Cai, DasGupta 2001, section 3.1.1)."""
    if not 0 <= hits <= images or images == 0:
        raise ConquerError(
            f"{hits} hits of {images} images", expected="at least one image and no more hits than images"
        )
    p, z2 = hits / images, Z95 * Z95 / images
    centre = (p + z2 / 2) / (1 + z2)
    half = Z95 / (1 + z2) * math.sqrt(p * (1 - p) / images + z2 / (4 * images))
    return Estimate(p, max(0.0, centre - half), min(1.0, centre + half))


def hits(text: str) -> npt.NDArray[np.int8]:
    """A string of 0 and 1 per image as an array."""
    array = np.frombuffer(text.encode(), np.uint8) - np.uint8(ord("0"))
    if array.size == 0 or array.max() > 1:
        raise ConquerError("the string of hits is empty or holds something else than 0 and 1")
    return array.astype(np.int8)


def paired_drop(correct_f32: str, correct: str) -> Estimate:
    """Accuracy of f32 minus accuracy of the policy on the same images, with a paired interval.

    Agresti and Min (2005), "Simple improved confidence intervals for comparing matched proportions": Wald's interval
    after half an image is added to each cell of the 2x2 table; it stays sensible when no image differs.
    """
    before, after = hits(correct_f32), hits(correct)
    if before.shape != after.shape:
        raise ConquerError(f"{before.size} and {after.size} images", expected="the same images for both")
    n = before.size
    lost, won = int(((before == 1) & (after == 0)).sum()), int(((before == 0) & (after == 1)).sum())
    b, c, total = lost + 0.5, won + 0.5, n + 2.0
    middle = (b - c) / total
    half = Z95 * math.sqrt((b + c) - (b - c) ** 2 / total) / total
    return Estimate((lost - won) / n, max(-1.0, middle - half), min(1.0, middle + half))


def grouped_intervals(per_image: dict[str, Any], groups: npt.NDArray[np.int64]) -> dict[str, list[float]]:
    """95 % intervals of agreement, sqnr_db and kl over images that come in groups, such as crops of one photograph.

    The percentile bootstrap on groups, which are what is independent (Davison and Hinkley 1997, section 3.8): groups
    are drawn with replacement, 2,000 times from one seed. `per_image` as conquer-eval answers it.
    """
    columns = np.stack(
        [
            np.ones(len(groups)),
            hits(per_image["agrees"]).astype(np.float64),
            *(np.asarray(per_image[name], np.float64) for name in ("signal", "noise", "kl")),
        ],
        axis=1,
    )
    _, numbers = np.unique(groups, return_inverse=True)
    sums = np.zeros((int(numbers.max()) + 1, columns.shape[1]))
    np.add.at(sums, numbers, columns)
    draws = np.random.default_rng(1).multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=RESAMPLES)
    images, agree, signal, noise, kl = (draws @ sums).T
    figures = {"agreement": agree / images, "sqnr_db": sqnr_db(signal, noise), "kl": kl / images}
    return {name: np.percentile(values, [2.5, 97.5]).tolist() for name, values in figures.items()}


def sqnr_db(signal: npt.NDArray[np.float64], noise: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Signal to quantisation noise in decibels, limited to 200 in both directions, as conquer-eval has it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(noise == 0, 200.0, 10 * np.log10(signal / noise))
    return np.clip(ratio, -200.0, 200.0)


def top1(logits: npt.NDArray[np.float32], labels: npt.NDArray[np.int64]) -> str:
    """One 0 or 1 per image: does the largest output name the label? The first of equal outputs counts."""
    return "".join("1" if hit else "0" for hit in logits.reshape(len(labels), -1).argmax(1) == labels)


def relative_difference(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> float:
    """Largest absolute difference over the largest magnitude of `b`."""
    scale = float(np.abs(b).max(initial=0.0))
    difference = float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max(initial=0.0))
    return difference / scale if scale > 0 else difference
