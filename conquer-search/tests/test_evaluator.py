"""conquer-eval over its protocol: f32 against ONNX Runtime, integer networks against Arm's reference model."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from conquer import importer, normalise, tools
from conquer.errors import ConquerError
from conquer.server import Server
from contract_model import Network, observed_ranges, to_mlir
from test_contract import images_of, profile_file, quantize, random_network, reference

NETWORK = Path(__file__).parents[2] / "examples" / "resnet" / "resnet18_fashion.onnx"


def program() -> str:
    try:
        return str(tools.find_program("conquer-eval"))
    except ConquerError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's network, imported and prepared."""
    folder = tmp_path_factory.mktemp("fashion")
    try:
        opt = str(tools.find_program("conquer-opt"))
    except ConquerError as error:
        pytest.skip(str(error))
    importer.convert(normalise.normalise(NETWORK), NETWORK, folder / "model.mlir")
    pipeline = "--conquer-prepare-pipeline=profile=x86-64 layers=layers.json"
    subprocess.run([opt, "model.mlir", pipeline, "-o", "prepared.mlir"], cwd=folder, check=True)
    return folder / "prepared.mlir"


@pytest.fixture
def server(prepared: Path) -> Iterator[Server]:
    with Server([program(), "--prepared", str(prepared), "--profile", "host"]) as started:
        yield started


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    path = tmp_path / "samples.npy"
    np.save(path, np.random.default_rng(1).standard_normal((12, 1, 28, 28)).astype(np.float32))
    return path


def relative(got: Any, want: Any) -> float:
    return float(np.abs(got - want).max() / np.abs(want).max())


def test_float_is_what_onnx_runtime_says(server: Server, samples: Path, tmp_path: Path) -> None:
    server.call("run", {"policy": None, "samples": str(samples), "output": str(tmp_path / "o.npy")})
    session = onnxruntime.InferenceSession(str(NETWORK), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    want = np.concatenate([session.run(None, {name: image[None]})[0] for image in np.load(samples)])
    assert relative(np.load(tmp_path / "o.npy"), want) < 1e-4


@pytest.mark.parametrize("method", ["minmax", "percentile", "mse"])
def test_calibration_and_accuracy(server: Server, samples: Path, tmp_path: Path, method: str, prepared: Path) -> None:
    layers = json.loads((prepared.parent / "layers.json").read_text())["layers"]
    output = tmp_path / "calibration.json"
    result = server.call("calibrate", {"samples": str(samples), "method": method, "output": str(output)})
    ranges = json.loads(output.read_text())["ranges"]
    assert result["ranges"] == len(ranges)
    assert {layer["id"] for layer in layers} <= set(ranges)
    for entry in ranges.values():
        assert entry["observed_min"] <= entry["observed_max"]
        assert entry["min"] <= 0 <= entry["max"]
    params = {"policy": {layer["id"]: "i8" for layer in layers}, "samples": str(samples)}
    answer = server.call("accuracy", params)
    assert answer["images"] == 12
    assert 15 < answer["sqnr_db"] < 100
    stages: list[str] = []
    # The same question again, by a program that reads the file.
    command = [program(), "--prepared", str(prepared), "--profile", "host", "--calibration", str(output)]
    with Server([*command, "--threads", "3"]) as other:
        assert other.call("accuracy", params, lambda stage, done, total: stages.append(stage)) == answer


def network_and_server(network: Network, requant: str, seed: int, folder: Path) -> tuple[Any, list[str]]:
    """Ranges from the test's own images, written where conquer-eval finds them."""
    profile_file(folder, requant)
    images = images_of(network, seed)
    ranges = observed_ranges(network, images)
    (folder / "prepared.mlir").write_text(to_mlir(network))
    command = [program(), "--prepared", str(folder / "prepared.mlir"), "--profile", str(folder / "target.json")]
    return (images, ranges), [*command, "--calibration", str(folder / "calibration.json")]


@pytest.mark.parametrize("requant", ["float32", "integer"])
@pytest.mark.parametrize(("seed", "policy_bits"), [(11, 0), (12, 0), (7, 0b0001010), (7, 0b1010000), (7, 0b0111111)])
def test_integers_are_what_the_reference_model_says(seed: int, policy_bits: int, requant: str, tmp_path: Path) -> None:
    network, policy = random_network(seed, exact=policy_bits != 0, policy_bits=policy_bits)
    (images, ranges), command = network_and_server(network, requant, seed, tmp_path)
    text = quantize(network, policy, ranges, tmp_path)
    want = [answer[0] for answer in reference(text, images, len(network.results), tmp_path)]
    np.save(tmp_path / "samples.npy", np.concatenate(images))
    with Server(command) as server:
        params = {"policy": policy, "samples": str(tmp_path / "samples.npy"), "output": str(tmp_path / "o.npy")}
        server.call("run", params)
    np.testing.assert_array_equal(np.load(tmp_path / "o.npy"), np.concatenate(want))


@pytest.mark.parametrize(
    ("method", "params", "part"),
    [
        ("fly", {}, "unknown method 'fly'"),
        ("accuracy", {"samples": "x.npy"}, "policy"),
        ("accuracy", {"policy": {"nothing": "i8"}, "samples": "x.npy"}, "nothing"),
        ("run", {"policy": None, "samples": "/nowhere/x.npy", "output": "o.npy"}, "/nowhere/x.npy"),
        ("calibrate", {"samples": "x.npy", "method": "magic", "output": "c.json"}, "minmax, percentile or mse"),
        ("info", {"more": 1}, "more"),
    ],
)
def test_errors_are_answers(server: Server, method: str, params: dict[str, Any], part: str) -> None:
    with pytest.raises(ConquerError) as caught:
        server.call(method, params)
    assert part in str(caught.value)
    assert server.call("info")["layers"] == 21


def talk(prepared: Path, text: bytes) -> tuple[int, list[Any]]:
    done = subprocess.run([program(), "--prepared", str(prepared)], input=text, capture_output=True)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def test_nonsense_is_answered_and_the_end_of_input_ends(prepared: Path) -> None:
    lines = [b"{", b"[]", b"\xff\xfe\x00", b"null", b"[" * 5000, b'{"id": 4, "method": "info"}']
    code, answers = talk(prepared, b"\n".join(lines))
    assert code == 0
    assert [answer["ok"] for answer in answers] == [False] * 5 + [True]
    assert answers[-1]["id"] == 4
    assert all(answer["error"]["what"] for answer in answers[:5])


def test_a_client_that_goes_away_ends_it_without_a_signal(prepared: Path) -> None:
    process = subprocess.Popen([program(), "--prepared", str(prepared)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin and process.stdout
    process.stdout.close()
    process.stdin.write(b'{"id": 1, "method": "info"}\n' * 3)
    process.stdin.close()
    assert process.wait(30) == 0


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("func.func @main(", "bad.mlir"),
        ("module {}", "no function main"),
        ("func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }", "static shape"),
    ],
)
def test_bad_networks_end_with_a_message(text: str, part: str, tmp_path: Path) -> None:
    (tmp_path / "bad.mlir").write_text(text)
    done = subprocess.run([program(), "--prepared", str(tmp_path / "bad.mlir")], capture_output=True, text=True)
    assert done.returncode == 1
    assert part in done.stderr
    assert done.stderr.startswith("error: ")
