"""Intervals against published values and brute force."""

from __future__ import annotations

import numpy as np
import pytest

from conquer import metrics
from conquer.errors import ConquerError


@pytest.mark.parametrize(
    ("hits", "images", "low", "high"),
    # Newcombe (1998), Statistics in Medicine 17, table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson(hits: int, images: int, low: float, high: float) -> None:
    estimate = metrics.wilson(hits, images)
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=5e-5)
    assert estimate.value == hits / images


def test_wilson_refuses_nonsense() -> None:
    for hits, images in ((1, 0), (3, 2), (-1, 2)):
        with pytest.raises(ConquerError):
            metrics.wilson(hits, images)


def test_paired_drop_value_and_symmetry() -> None:
    loss = metrics.paired_drop("1111000", "1100010")
    gain = metrics.paired_drop("1100010", "1111000")
    assert loss.value == pytest.approx(1 / 7) and gain.value == pytest.approx(-1 / 7)
    assert (loss.low, loss.high) == pytest.approx((-gain.high, -gain.low))
    same = metrics.paired_drop("1" * 2000, "1" * 2000)
    assert same.value == 0 and 0 < same.high < 0.002 and same.low == -same.high


def test_paired_interval_covers() -> None:
    """95 % of the intervals hold the true difference, within what 2,000 experiments can tell."""
    generator = np.random.default_rng(1)
    lost, won, n = 0.03, 0.01, 500
    inside = 0
    for _ in range(2000):
        cell = generator.choice(3, n, p=[lost, won, 1 - lost - won])
        before = np.where(cell == 0, 1, np.where(cell == 1, 0, 1))
        after = np.where(cell == 0, 0, 1)
        drop = metrics.paired_drop("".join(map(str, before)), "".join(map(str, after)))
        inside += drop.low <= lost - won <= drop.high
    assert 0.935 < inside / 2000 < 0.975


def test_hits_are_checked() -> None:
    for text in ("", "012", "1 0"):
        with pytest.raises(ConquerError):
            metrics.hits(text)
    with pytest.raises(ConquerError, match="the same images"):
        metrics.paired_drop("11", "111")


def test_relative_difference() -> None:
    a, b = np.array([1, 2], np.float32), np.array([1, 4], np.float32)
    assert metrics.relative_difference(a, b) == 0.5
    assert metrics.relative_difference(np.zeros(2, np.float32), np.zeros(2, np.float32)) == 0
    assert np.isnan(metrics.relative_difference(np.array([np.nan], np.float32), np.array([1], np.float32)))


def test_grouped_intervals() -> None:
    """Groups of one image are the plain bootstrap; groups of equal images are as uncertain as one image each."""
    generator = np.random.default_rng(5)
    agrees = generator.random(400) < 0.9
    noise, signal = generator.uniform(0.5, 1.5, 400), np.full(400, 100.0)
    image = {"agrees": "".join("01"[int(hit)] for hit in agrees), "noise": noise, "signal": signal, "kl": noise / 100}
    plain = metrics.grouped_intervals(image, np.arange(400))
    deviation = np.sqrt(agrees.mean() * (1 - agrees.mean()) / 400)
    assert plain["agreement"] == pytest.approx(
        [agrees.mean() - 1.96 * deviation, agrees.mean() + 1.96 * deviation], abs=6e-3
    )
    low, high = plain["sqnr_db"]
    assert low < 10 * np.log10(signal.sum() / noise.sum()) < high and high - low < 0.3
    four = {name: "".join(4 * c for c in v) if name == "agrees" else np.repeat(v, 4) for name, v in image.items()}
    for name, ends in metrics.grouped_intervals(four, np.repeat(np.arange(400), 4)).items():
        assert ends == pytest.approx(plain[name])


def test_sqnr_is_limited() -> None:
    assert list(metrics.sqnr_db(np.array([0.0, 1.0, 1.0]), np.array([1.0, 0.0, 1e300]))) == [-200, 200, -200]
