"""The importer against ONNX Runtime: every operator alone and in small networks, and everything it must refuse."""

from __future__ import annotations

import functools
import re
import subprocess
from pathlib import Path
from typing import Any

import iree.runtime as rt
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from conquer import importer, normalise, tools
from conquer.errors import ConquerError
from conquer.importer import Arrays, Values
from onnx_cases import IMAGE, Array, all_cases, graph_model, integers, one, weights

CASES = all_cases()
NETWORK = Path(__file__).parents[2] / "examples" / "resnet" / "resnet18_fashion.onnx"


@pytest.fixture(autouse=True)
def programs() -> None:
    try:
        for name in ("conquer-opt", "conquer-eval"):
            tools.find_program(name)
    except ConquerError as error:
        pytest.skip(str(error))


def compile_tosa(module: Path) -> Any:
    """The functions of a TOSA module as Python callables."""
    folder = module.parent
    opt = str(tools.find_program("conquer-opt"))
    tools.run([opt, str(module), "--mlir-print-op-generic", "-o", str(folder / "module.mlir")])  # what IREE reads
    flags = ["--iree-input-type=tosa", "--iree-hal-target-device=local"]
    flags += ["--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"]
    command = [str(tools.find_iree("iree-compile")), *flags, "module.mlir", "-o", "module.vmfb"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    context = rt.SystemContext(config=rt.Config("local-sync"))
    context.add_vm_module(rt.VmModule.mmap(context.instance, str(folder / "module.vmfb")))
    return context.modules.module


def call(function: Any, inputs: Arrays) -> list[Array]:
    results = function(*inputs.values())
    return [np.asarray(result.to_host()) for result in (results if isinstance(results, tuple | list) else [results])]


def run_iree(module: Path, inputs: Arrays, probe: bool) -> Values:
    """A Runner of its own, so that the importer is judged without our evaluator."""
    return Values(call(compile_tosa(module)["main"], inputs))


def imported(model: Any, folder: Path) -> str:
    """The text of the module of a model; not checked."""
    source, module = folder / "model.onnx", folder / "model.mlir"
    onnx.save(model, source)
    importer.convert(normalise.normalise(source), source, module)
    return module.read_text()


@pytest.fixture(scope="session")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The other cases as functions of one compiled module: compiling them one by one would take minutes."""
    folder = tmp_path_factory.mktemp("cases")
    parts = []
    for name, model in CASES.items():
        if by_evaluator(model):
            continue
        text = re.sub(r"(?m)^#loc.*\n", "", imported(model, folder))
        text = re.sub(r' loc\((#loc\d*|"[^"]*")\)', "", text)
        parts.append(text.replace("func.func @main(", f"func.func @{name}("))
    everything = folder / "all.mlir"
    bodies = [part[part.index("func.func") : part.rindex("}")] for part in parts]
    everything.write_text("module {\n" + "\n".join(bodies) + "\n}\n")
    return compile_tosa(everything)


def shape_of(value: Any) -> list[int]:
    return [dim.dim_value for dim in value.type.tensor_type.shape.dim]


def by_evaluator(model: Any) -> bool:
    """conquer-eval takes networks of one input for one sample."""
    shapes = [shape_of(value) for value in model.graph.input]
    return len(shapes) == 1 and shapes[0][:1] == [1]


def assert_right(model: Any, inputs: Arrays, results: list[Array]) -> None:
    outputs = [value.name for value in model.graph.output]
    expected = importer.run_onnxruntime(model.SerializeToString(), inputs, outputs)
    for got, want in zip(results, expected, strict=True):
        assert importer.difference(got, want) <= 1e-5


@pytest.mark.parametrize("name", [name for name, model in CASES.items() if by_evaluator(model)])
def test_operator_is_right(name: str, tmp_path: Path) -> None:
    model = CASES[name]
    (tmp_path / "module.mlir").write_text(imported(model, tmp_path))
    inputs = importer.random_inputs(model.graph)
    assert_right(model, inputs, importer.run_evaluator(tmp_path / "module.mlir", inputs, False).outputs)


@pytest.mark.parametrize("name", [name for name, model in CASES.items() if not by_evaluator(model)])
def test_operator_is_right_in_iree(name: str, functions: Any) -> None:
    model = CASES[name]
    inputs = importer.random_inputs(model.graph)
    assert_right(model, inputs, call(functions[name], inputs))


def test_every_operator_has_a_case() -> None:
    covered = {node.op_type for model in CASES.values() for node in model.graph.node} | {"Constant"}
    assert covered == normalise.SUPPORTED


def test_network_is_right(tmp_path: Path) -> None:
    importer.import_onnx(NETWORK, tmp_path / "model.mlir")
    text = (tmp_path / "model.mlir").read_text()
    assert text.count("tosa.transpose") == 0  # one channel in, ten numbers out
    assert 'conquer.id = "image"' in text and 'conquer.id = "logits"' in text
    assert 'loc("/conv1/Conv")' in text
    assert not list(tmp_path.glob(".import-*"))


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("convolutions_plain", 2),  # in and out
        ("networks_flatten_gemm", 1),  # the weights are reordered instead
        ("networks_flatten_relu_matmul", 1),
        ("networks_flatten_and_back", 2),
        ("networks_squeeze_excite", 2),
        ("networks_batch_norm", 2),
        ("networks_two_outputs", 3),
        ("networks_channels_last_model", 0),
    ],
)
def test_transposes_are_at_the_border(name: str, count: int, tmp_path: Path) -> None:
    assert imported(CASES[name], tmp_path).count("tosa.transpose") == count


def test_network_is_right_in_iree(tmp_path: Path) -> None:
    importer.import_onnx(NETWORK, tmp_path / "model.mlir", runner=run_iree)


def test_names_of_layers_are_names_of_nodes(tmp_path: Path) -> None:
    text = imported(CASES["convolutions_unused_tail"], tmp_path)
    assert 'loc("the/node")' in text and 'loc("the/node:crop")' in text


def test_import_is_deterministic(tmp_path: Path) -> None:
    model = CASES["networks_squeeze_excite"]
    assert imported(model, tmp_path) == imported(model, tmp_path)


# ---------------------------------------------------------------------------------------------------------------------
# What the normalisation does


def normalised(model: Any, folder: Path, dims: dict[str, int] | None = None) -> Any:
    onnx.save(model, folder / "model.onnx")
    return normalise.normalise(folder / "model.onnx", dims)


def relu(*shape: int | str) -> Any:
    return graph_model([helper.make_node("Relu", ["x"], ["y"])], {"x": shape}, ["y"], {})


def test_batch_becomes_one(tmp_path: Path) -> None:
    assert shape_of(normalised(relu("N", 3, 4, 5), tmp_path).graph.input[0]) == [1, 3, 4, 5]


def test_dimensions_are_bound_by_name_and_by_axis(tmp_path: Path) -> None:
    model = normalised(relu("N", 3, "H", "W"), tmp_path, {"N": 4, "H": 9, "x:3": 7})
    assert shape_of(model.graph.input[0]) == [4, 3, 9, 7]


@pytest.mark.parametrize(
    ("dims", "message"),
    [
        ({}, r"input 'x': dimension 2 \('H'\) has no size; give it with --dim H=SIZE"),
        ({"H": 0}, "dimension H=0"),
        ({"H": 4, "Q": 4}, r"no dynamic dimension is called 'Q'; expected N, x:0, H, x:2"),
    ],
)
def test_dimensions_that_do_not_fit(dims: dict[str, int], message: str, tmp_path: Path) -> None:
    with pytest.raises(ConquerError, match=message):
        normalised(relu("N", 3, "H", 5), tmp_path, dims)


def test_initialisers_that_are_inputs_are_constants(tmp_path: Path) -> None:
    model = one("Add", (2, 3), weights(3))
    model.graph.input.append(helper.make_tensor_value_info("x1", TensorProto.FLOAT, [3]))
    model.ir_version = 3
    assert [value.name for value in normalised(model, tmp_path).graph.input] == ["x0"]


def test_nodes_get_names_of_their_own(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", [a], [b], name=name) for a, b, name in ("xa-", "ab-", "bcn", "cyn")]
    for node in nodes:
        node.name = node.name.replace("-", "")
    model = normalised(graph_model(nodes, {"x": (2, 3)}, ["y"], {}), tmp_path)
    assert [node.name for node in model.graph.node] == ["0/Relu/a", "1/Relu/b", "n", "3/Relu/y"]


def test_shape_arithmetic_is_folded(tmp_path: Path) -> None:
    """The flattening that exporters write for `x.view(x.size(0), -1)`."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"], axis=0),
        helper.make_node("Unsqueeze", ["n", "axes"], ["u"]),
        helper.make_node("Concat", ["u", "rest"], ["t"], axis=0),
        helper.make_node("Identity", ["x"], ["i"]),
        helper.make_node("Dropout", ["i"], ["d"]),
        helper.make_node("Reshape", ["d", "t"], ["r"]),
        helper.make_node("Relu", ["r"], ["y"]),
    ]
    constants = {"zero": np.array(0, dtype=np.int64), "axes": integers(0), "rest": integers(-1)}
    model = normalised(graph_model(nodes, {"x": ("N", 3, 4, 5)}, ["y"], constants), tmp_path)
    assert [node.op_type for node in model.graph.node] == ["Reshape", "Relu"]
    shape = {tensor.name: numpy_helper.to_array(tensor).tolist() for tensor in model.graph.initializer}
    assert shape == {"t": [1, -1]}


def test_old_operator_sets_are_converted(tmp_path: Path) -> None:
    node = helper.make_node("Add", ["x", "b"], ["y"], broadcast=1, axis=2)
    model = graph_model([node], {"x": IMAGE}, ["y"], {"b": weights(9, 7)}, opset=6)
    assert normalised(model, tmp_path).opset_import[0].version == normalise.CONVERTED


def test_external_data_is_loaded(tmp_path: Path) -> None:
    bias = weights(300)
    model = one("Add", (2, 300), bias)
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="data.bin", size_threshold=0)
    loaded = normalise.normalise(tmp_path / "m.onnx").graph.initializer[0]
    assert np.array_equal(numpy_helper.to_array(loaded), bias)


@pytest.mark.parametrize("location", ["../data.bin", "/etc/hostname", "missing.bin"])
def test_external_data_elsewhere_is_refused(location: str, tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(bytes(12))
    folder = tmp_path / "model"
    folder.mkdir()
    model = one("Add", (2, 3), weights(3))
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(ConquerError, match=r"tensor 'x1': (data at|the data file)"):
        normalise.normalise(folder / "m.onnx")


# ---------------------------------------------------------------------------------------------------------------------
# What is refused


def quantised() -> Any:
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s"], ["q"], name="quant"),
        helper.make_node("DequantizeLinear", ["q", "s"], ["y"], name="dequant"),
    ]
    return graph_model(nodes, {"x": (2, 3)}, ["y"], {"s": np.array(0.1, dtype=np.float32)})


def with_indices() -> Any:
    node = helper.make_node("MaxPool", ["x"], ["y", "i"], name="the/node", kernel_shape=[2, 2])
    model = graph_model([node], {"x": IMAGE}, ["y"], {})
    model.graph.output.append(helper.make_tensor_value_info("i", TensorProto.INT64, [1, 3, 8, 6]))
    return model


REFUSED = {
    "unknown operator": (one("Erf", (2, 3)), r"node 'the/node' \(Erf\): the operator is not supported"),
    "quantised": (quantised(), r"node 'quant' \(QuantizeLinear\): .* \(and 1 more nodes\)"),
    "on activations": (one("Exp", (2, 3)), "supported on constants and shapes only"),
    "computed weights": (one("Conv", IMAGE, (5, 3, 3, 3)), "the weights are computed"),
    "three axes": (one("Conv", (1, 2, 3, 4, 5), weights(1, 2, 1, 1, 1)), "input of rank 5"),
    "kernel": (one("MaxPool", IMAGE, kernel_shape=[2, 2], dilations=[2, 2]), r"dilations \[2, 2\]"),
    "indices": (with_indices(), "the indices of the maxima are used"),
    "reflection": (one("Pad", (4, 5), integers(1, 1, 1, 1), mode="reflect"), "mode 'reflect'"),
    "backwards": (one("Slice", (4, 5), integers(3), integers(0), integers(0), integers(-1)), "step -1"),
    "training": (
        one("Dropout", (4, 5), np.array(0.5, dtype=np.float32), np.array(True)),
        "is in training mode",
    ),
    "zero divisor": (one("Div", (4, 2), np.array([1, 0], dtype=np.float32)), "the constant divisor contains 0"),
    "computed bound": (one("Clip", (4, 2), ()), "input 'x1' is computed"),
    "statistics": (
        one("BatchNormalization", IMAGE, *[weights(3)] * 3, np.full(3, -1, dtype=np.float32)),
        "the variance of channel 0",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_node_and_reason(name: str, tmp_path: Path) -> None:
    model, message = REFUSED[name]
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(ConquerError, match=message) as caught:
        importer.import_onnx(tmp_path / "m.onnx", tmp_path / "out.mlir", runner=run_iree)
    assert "node '" in str(caught.value) and str(caught.value).startswith(str(tmp_path / "m.onnx"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.onnx"]


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    data = CASES["convolutions_bias"].SerializeToString()
    path = tmp_path / "m.onnx"
    for content in (b"", b"\x00\xff" * 40, data[: len(data) // 2]):
        path.write_bytes(content)
        with pytest.raises(ConquerError, match=r"m\.onnx: "):
            importer.import_onnx(path, tmp_path / "out.mlir", runner=run_iree)
    with pytest.raises(ConquerError, match="cannot read the file"):
        normalise.normalise(tmp_path / "none.onnx")


def test_inputs_must_be_float(tmp_path: Path) -> None:
    model = relu(2, 3)
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.UINT8
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.UINT8
    with pytest.raises(ConquerError, match="input 'x': element type UINT8; expected FLOAT"):
        normalised(model, tmp_path)


def run_wrong(module: Path, inputs: Arrays, probe: bool) -> Values:
    """A module whose second node is wrong."""
    x = np.maximum(next(iter(inputs.values())), 0)
    wrong = np.tanh(x) + np.float32(0.01)
    return Values([wrong], {"first": x, "second": wrong} if probe else {})


def test_a_wrong_module_names_the_first_node_that_differs(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="first"),
        helper.make_node("Tanh", ["a"], ["y"], name="second"),
    ]
    onnx.save(graph_model(nodes, {"x": (2, 3)}, ["y"], {}), tmp_path / "m.onnx")
    with pytest.raises(ConquerError, match=r"node 'second' \(Tanh\): the imported network differs"):
        importer.import_onnx(tmp_path / "m.onnx", tmp_path / "out.mlir", runner=run_wrong)
    assert not (tmp_path / "out.mlir").exists()


def test_difference() -> None:
    x = np.array([1, -2, 4], dtype=np.float32)
    assert importer.difference(x, x) == 0
    assert importer.difference(x + np.float32(0.5), x) == pytest.approx(0.125)
    assert importer.difference(x[:2], x) == np.inf
    assert importer.difference(np.full(3, np.nan, dtype=np.float32), x) == np.inf
    assert importer.difference(np.zeros(3, dtype=np.float32), np.zeros(3, dtype=np.float32)) == 0


# ---------------------------------------------------------------------------------------------------------------------
# conquer-opt --import-onnx on files that Python would not let through


def refusal(model: Any, folder: Path) -> str:
    (folder / "m.onnx").write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
    opt = str(tools.find_program("conquer-opt"))
    done = subprocess.run(
        [opt, "--import-onnx", "m.onnx", "-o", "out.mlir"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 1 and not done.stdout and not (folder / "out.mlir").exists()
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("error: m.onnx: ")
    return lines[0]


def broken(name: str) -> Any:
    model = one("Conv", IMAGE, weights(5, 3, 3, 3), weights(5), pads=[1, 1, 1, 1])
    node, tensor = model.graph.node[0], model.graph.initializer[0]
    if name == "raw data":
        tensor.raw_data = tensor.raw_data[:-1]
    elif name == "typed data":
        tensor.ClearField("raw_data")
        tensor.float_data.extend([1.0, 2.0])
    elif name == "negative shape":
        tensor.dims[0] = -5
    elif name == "huge shape":
        tensor.dims[0] = 1 << 62
    elif name == "element type":
        tensor.data_type = TensorProto.FLOAT16
    elif name == "undefined input":
        node.input[0] = "nowhere"
    elif name == "defined twice":
        node.output[0] = "x0"
    elif name == "attribute":
        node.attribute.append(helper.make_attribute("colour", 3))
    elif name == "attribute kind":
        node.attribute[0].CopyFrom(helper.make_attribute("pads", 1.5))
    elif name == "huge pads":
        node.attribute[0].CopyFrom(helper.make_attribute("pads", [1 << 62] * 4))
    elif name == "group":
        node.attribute.append(helper.make_attribute("group", 0))
    elif name == "bias":
        model.graph.initializer[1].dims[0] = 4
        model.graph.initializer[1].raw_data = bytes(16)
    elif name == "output":
        model.graph.output[0].name = "other"
    elif name == "output shape":
        model.graph.output[0].type.tensor_type.shape.dim[3].dim_value = 99
    elif name == "dynamic":
        model.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "H"
    elif name == "operator set":
        model.opset_import[0].version = 3
    elif name == "inputs":
        del node.input[1:]
    return model


BROKEN = {
    "raw data": "initialiser 'x1': the tensor's data does not have the size of its shape",
    "typed data": "initialiser 'x1': the tensor's data does not have the size of its shape",
    "negative shape": "tensor of shape [-5, 3, 3, 3]",
    "huge shape": "tensor of shape [4611686018427387904, 3, 3, 3]",
    "element type": "tensor of element type 10",
    "undefined input": "node 'the/node' (Conv): input 'nowhere' is not defined before the node",
    "defined twice": "node 'the/node' (Conv): value 'x0' is defined twice",
    "attribute": "node 'the/node' (Conv): attribute 'colour' is not supported",
    "attribute kind": "node 'the/node' (Conv): attribute 'pads' is of kind float; expected ints",
    "huge pads": "node 'the/node' (Conv): pads [4611686018427387904, ",
    "group": "node 'the/node' (Conv): weights of shape [5, 3, 3, 3] and 0 groups",
    "bias": "node 'the/node' (Conv): bias of shape [4]; expected [5]",
    "output": "output 'other': no node computes the output",
    "output shape": "output 'y0': the output has the shape [1, 5, 9, 7]; expected [1, 5, 9, 99]",
    "dynamic": "input 'x0': the input has no static shape",
    "operator set": "operator set 3; expected 7 to 28",
    "inputs": "node 'the/node' (Conv): 1 inputs; expected 2 to 3",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_models_are_one_message(name: str, tmp_path: Path) -> None:
    assert BROKEN[name] in refusal(broken(name), tmp_path)


def test_truncated_models_never_crash(tmp_path: Path) -> None:
    data = one("Conv", IMAGE, weights(2, 3, 1, 1)).SerializeToString()
    for length in range(0, len(data) - 1, 9):
        refusal(data[:length], tmp_path)


@functools.cache
def scrambled() -> list[bytes]:
    """Models with a few bytes changed."""
    data = np.frombuffer(CASES["networks_squeeze_excite"].SerializeToString(), dtype=np.uint8)
    generator = np.random.default_rng(7)
    results = []
    for _ in range(40):
        copy = data.copy()
        copy[generator.integers(0, len(data), 4)] = generator.integers(0, 256, 4)
        results.append(copy.tobytes())
    return results


def test_scrambled_models_never_crash(tmp_path: Path) -> None:
    opt = str(tools.find_program("conquer-opt"))
    for content in scrambled():
        (tmp_path / "m.onnx").write_bytes(content)
        done = subprocess.run([opt, "--import-onnx", "m.onnx", "-o", "out.mlir"], cwd=tmp_path, capture_output=True)
        assert done.returncode in (0, 1)
        assert done.returncode == 0 or done.stderr.startswith(b"error: m.onnx: ")
