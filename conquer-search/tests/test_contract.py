"""The quantised networks compute exactly what the numeric contract says: Arm's reference model is the judge.

Needs conquer-opt and the wheel tosa-tools; CONQUER_TOSA_TOOLS names the bin folder of its virtual environment.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from conquer import tools
from conquer.errors import ConquerError
from contract_model import F32, Network, Quantized, observed_ranges, to_mlir

IMAGES = 2


def tosa_tool(name: str) -> str:
    found = shutil.which(name, path=os.environ.get("CONQUER_TOSA_TOOLS", os.environ["PATH"]))
    if not found:
        pytest.skip(f"{name} not found: install tosa-tools and set CONQUER_TOSA_TOOLS to its bin folder")
    return found


def conquer_opt() -> Path:
    try:
        return tools.find_program("conquer-opt")
    except ConquerError as error:
        pytest.skip(str(error))


def profile_file(folder: Path, requant: str) -> Path:
    profile = json.loads((tools.data_folder() / "profiles/x86-64.json").read_text())
    profile["requant"] = requant
    path = folder / "target.json"
    path.write_text(json.dumps(profile))
    return path


def quantize(network: Network, policy: dict[str, str], ranges: dict[str, tuple[float, float]], folder: Path) -> str:
    """The quantised network in the generic form, without what only our own tools can parse."""
    (folder / "prepared.mlir").write_text(to_mlir(network))
    (folder / "policy.json").write_text(json.dumps({"format": "conquer.policy", "version": 1, "layers": policy}))
    entries = {k: {"min": a, "max": b, "observed_min": a, "observed_max": b} for k, (a, b) in ranges.items()}
    calibration = {"format": "conquer.calibration", "version": 1, "method": "minmax", "samples": 1, "ranges": entries}
    (folder / "calibration.json").write_text(json.dumps(calibration))
    options = "calibration=calibration.json policy=policy.json profile=target.json"
    command = [str(conquer_opt()), "prepared.mlir", f"--conquer-quantize-pipeline={options}"]
    done = subprocess.run([*command, "--mlir-print-op-generic"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = re.sub(r"(?<=^\}\)) \{.*\}(?= : \(\) -> \(\)$)", "", done.stdout, flags=re.MULTILINE)
    return re.sub(r"\{conquer\.[^}]*\}", "{}", text)


def reference(text: str, images: list[F32], results: int, folder: Path) -> list[list[F32]]:
    """What Arm's reference model computes from it."""
    (folder / "q.mlir").write_text(text)
    serialize = [tosa_tool("tosa-opt"), "--tosa-serialize", "--tosa-flatbuffer-filename=q.tosa", "q.mlir"]
    subprocess.run(serialize, cwd=folder, check=True, capture_output=True)
    answers = []
    names = ",".join(f"TosaOutput_{i}" for i in range(results))
    files = [f"y{i}.npy" for i in range(results)]
    for image in images:
        np.save(folder / "x.npy", image)
        command = [tosa_tool("tosa_reference_model"), "--tosa_file=q.tosa", "--ifm_name=TosaInput_0"]
        command += ["--ifm_file=x.npy", f"--ofm_name={names}", f"--ofm_file={','.join(files)}"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        answers.append([np.load(folder / file) for file in files])
    return answers


def random_network(seed: int, exact: bool, policy_bits: int) -> tuple[Network, dict[str, str]]:
    """A stem of stride 2, a depthwise layer, a residual block, a concatenation, pools and a fully connected layer.

    Bit k of `policy_bits` puts layer k in f32. The block is also a result, so its value has readers of both precisions.
    """
    random = np.random.default_rng(seed)
    size, channels = int(random.integers(9, 13)), int(random.integers(3, 7))
    network = Network(seed, (1, size, size + 1, int(random.integers(1, 4))), exact)
    count = -1

    def integer() -> bool:
        nonlocal count
        count += 1
        return not policy_bits >> count & 1

    x = network.clamp(network.conv(0, channels, stride=2, integer=integer()))
    x = network.clamp(network.depthwise(x, integer=integer()), 0.0, 6.0)
    y = network.conv(x, channels, k=1, pad=0, integer=integer())
    y = network.conv(network.clamp(y), channels, integer=integer())
    x = network.clamp(network.add(y, x))
    block = x
    a = network.conv(x, 3, k=1, pad=0, integer=integer())
    b = network.pool("max_pool2d", x, (3, 3), pad=1)
    x = network.concat(a, b)
    x = network.conv(x, 4, k=2, pad=0, integer=integer())
    x = network.clamp(network.pool("avg_pool2d", x, (2, 2) if exact else (3, 3), pad=0 if exact else 1), -0.5, 2.0)
    x = network.slice(x, (0, 0, 0, 0), (1, 2, 2, network.nodes[x].shape[3]))
    x = network.pool("avg_pool2d", x, (2, 2))
    x = network.conv(x, 10, k=1, pad=0, integer=integer())
    network.results = [network.reshape(x, (1, 10)), block]
    names = network.layers()
    return network, {name: "f32" if policy_bits >> k & 1 else "i8" for k, name in enumerate(names)}


def images_of(network: Network, seed: int) -> list[F32]:
    random = np.random.default_rng(seed + 1000)
    shape = network.nodes[0].shape
    return [(np.round(random.normal(0, 1, shape) * 64) / 64).astype(np.float32) for _ in range(IMAGES)]


def check(network: Network, policy: dict[str, str], requant: str, seed: int, folder: Path) -> None:
    profile_file(folder, requant)
    images = images_of(network, seed)
    ranges = observed_ranges(network, images)
    text = quantize(network, policy, ranges, folder)
    answers = reference(text, images, len(network.results), folder)
    for image, answer in zip(images, answers, strict=True):
        expected = Quantized(network, policy, ranges, requant).run(image)
        for want, got in zip(expected, answer, strict=True):
            assert np.unique(want).size > 3, "the test's own network is dead"
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("requant", ["float32", "integer"])
@pytest.mark.parametrize("seed", range(3))
def test_all_integer(seed: int, requant: str, tmp_path: Path) -> None:
    network, policy = random_network(seed, exact=False, policy_bits=0)
    check(network, policy, requant, seed, tmp_path)


@pytest.mark.parametrize("requant", ["float32", "integer"])
def test_w4a8_beside_i8(requant: str, tmp_path: Path) -> None:
    network, policy = random_network(5, exact=False, policy_bits=0)
    policy |= {name: "w4a8" for number, name in enumerate(policy) if number % 3 != 1}
    check(network, policy, requant, 5, tmp_path)


@pytest.mark.parametrize("policy_bits", [0b0000001, 0b0001010, 0b0100100, 0b1010000, 0b1000010, 0b0111111])
def test_mixed(policy_bits: int, tmp_path: Path) -> None:
    network, policy = random_network(7, exact=True, policy_bits=policy_bits)
    check(network, policy, "integer" if policy_bits & 2 else "float32", 7, tmp_path)


@pytest.mark.parametrize("requant", ["float32", "integer"])
def test_dead_channels(requant: str, tmp_path: Path) -> None:
    network = Network(3, (1, 5, 7, 3))
    x = network.clamp(network.conv(0, 5))
    y = network.depthwise(x)
    network.results = [network.conv(y, 6, k=1, pad=0)]
    for node in network.nodes:
        if node.weight is None or node.bias is None:
            continue
        if node.kind == "conv2d":
            node.weight[0], node.weight[3], node.bias[3] = 0, 0, 0
            node.weight[4] *= np.float32(1e-4)
        else:
            node.weight[:, :, 1] = 0
    check(network, {name: "i8" for name in network.layers()}, requant, 3, tmp_path)


def test_a_tensor_of_zeros(tmp_path: Path) -> None:
    """A range of nothing, as a layer that is always cut off by its ReLU has."""
    network = Network(4, (1, 4, 4, 2))
    x = network.conv(0, 4)
    network.nodes[x].bias[:] = -1000  # type: ignore[index]
    a = network.conv(network.clamp(x), 3)
    network.results = [network.conv(a, 4, k=1, pad=0), a]
    profile_file(tmp_path, "integer")
    images = images_of(network, 4)
    ranges = observed_ranges(network, images)
    policy = {name: "i8" for name in network.layers()}
    answers = reference(quantize(network, policy, ranges, tmp_path), images, 2, tmp_path)
    for image, answer in zip(images, answers, strict=True):
        for want, got in zip(Quantized(network, policy, ranges, "integer").run(image), answer, strict=True):
            np.testing.assert_array_equal(got, want)
