"""Measuring and running real modules in the worker process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from conquer import devices, tools
from conquer.artifacts import write_json
from conquer.errors import ConquerError, StageFailure

SOURCE = """
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %0 = tosa.tanh %x : (tensor<1x8xf32>) -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}
func.func @heavy(%x: tensor<1x256x256xf32>) -> tensor<1x256x256xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %x, %z, %z : (tensor<1x256x256xf32>, tensor<1x256x256xf32>, tensor<1xf32>, tensor<1xf32>)
    -> tensor<1x256x256xf32>
  return %0 : tensor<1x256x256xf32>
}
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("module")
    (folder / "m.mlir").write_text(SOURCE)
    flags = [
        "--iree-input-type=tosa",
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
    ]
    command = [str(tools.find_iree("iree-compile")), *flags, str(folder / "m.mlir"), "-o", str(folder / "m.vmfb")]
    tools.run(command)
    return folder / "m.vmfb"


@pytest.fixture(params=[1, 2])
def device(request: pytest.FixtureRequest) -> Iterator[devices.LocalDevice]:
    try:
        device = devices.LocalDevice(request.param)
    except ConquerError:
        pytest.skip(f"this process may not use {request.param} CPUs")
    yield device
    device.close()


def test_run_and_measure(module: Path, device: devices.LocalDevice, tmp_path: Path) -> None:
    samples = np.random.default_rng(1).standard_normal((3, 8)).astype(np.float32)
    np.save(tmp_path / "x.npy", samples)
    got = device.run(module, tmp_path / "x.npy", tmp_path / "y.npy")
    assert np.allclose(got, np.tanh(samples), atol=1e-5)
    subjects = [
        {"module": str(module), "inputs": ["1x8xf32"]},
        {"module": str(module), "function": "heavy", "inputs": ["1x256x256xf32"]},
    ]
    light, heavy = device.measure(subjects, rounds=5, round_ms=1.0)
    assert len(light.samples_ms) == len(heavy.samples_ms) == 5
    assert 0 < light.median_ms < heavy.median_ms and heavy.ratio(light) > 1
    assert light.spread_ms >= 0
    (alone,), (heavy, light) = device.sweep([subjects[:1], subjects[::-1]], rounds=5)
    assert len(alone.samples_ms) == len(light.samples_ms) == len(heavy.samples_ms) == 5
    assert 0 < light.median_ms < heavy.median_ms and 0 < alone.median_ms < heavy.median_ms


def test_bad_modules_cost_one_candidate(module: Path, tmp_path: Path) -> None:
    device = devices.LocalDevice(1)
    (tmp_path / "bad.vmfb").write_bytes(b"not a module" * 100)
    with pytest.raises(StageFailure):
        device.measure([{"module": str(tmp_path / "bad.vmfb"), "inputs": ["1x8xf32"]}], 3, 1.0)
    with pytest.raises(StageFailure, match="nothing"):
        device.measure([{"module": str(module), "function": "nothing", "inputs": []}], 3, 1.0)
    with pytest.raises(StageFailure):
        device.measure([{"module": str(module), "inputs": ["1x9xf32"]}], 3, 1.0)
    assert device.measure([{"module": str(module), "inputs": ["1x8xf32"]}], 3, 1.0)[0].median_ms > 0
    device.close()


def test_module_for_another_cpu_is_refused(module: Path, tmp_path: Path) -> None:
    write_json(tmp_path / "module.json", {"format": "conquer.module", "version": 1, "features": ["sse2", "amx_future"]})
    (tmp_path / "model.vmfb").write_bytes(module.read_bytes())
    device = devices.LocalDevice(1)
    with pytest.raises(ConquerError, match="needs amx_future, which this CPU") as error:
        device.measure([{"module": str(tmp_path / "model.vmfb"), "inputs": ["1x8xf32"]}], 3, 1.0)
    assert not isinstance(error.value, StageFailure)


def test_features_are_compared_whatever_their_spelling() -> None:
    assert len({devices.normal_feature(name) for name in ("avx512_vnni", "+avx512vnni", "AVX512-VNNI")}) == 1
    name, features = devices.cpu()
    assert name and features
    devices.require_features(sorted(features)[:3], "here")


@pytest.mark.parametrize("threads", [0, 100_000])
def test_thread_count_is_checked(threads: int) -> None:
    with pytest.raises(ConquerError, match=r"--threads: .* threads; expected 1 to"):
        devices.LocalDevice(threads)
