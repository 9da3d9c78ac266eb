"""The prepare stage changes how a network is written, not what it computes: conquer-eval runs it before and after.

The networks are written as torch-mlir writes them: images N, C, H, W with transposes around every convolution, batch
norms as arithmetic, paddings and ReLU6 as ops, fully connected layers as matmul and add.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from conquer import tools
from conquer.errors import ConquerError

F32 = npt.NDArray[np.float32]
CHANNELS_LAST = (0, 2, 3, 1)
CHANNELS_FIRST = (0, 3, 1, 2)


class Writer:
    """TOSA text in the generic form, op by op. Values are pairs of name and shape."""

    def __init__(self, seed: int, shape: tuple[int, ...]) -> None:
        self.random = np.random.default_rng(seed)
        self.lines: list[str] = []
        self.types = {"%x": self.tensor(shape)}
        self.shapes = {"%x": shape}

    @staticmethod
    def tensor(shape: tuple[int, ...], element: str = "f32") -> str:
        return f"tensor<{''.join(f'{d}x' for d in shape)}{element}>"

    def op(self, kind: str, operands: list[str], shape: tuple[int, ...], properties: str = "", type_: str = "") -> str:
        name = f"%v{len(self.lines)}"
        self.types[name], self.shapes[name] = type_ or self.tensor(shape), shape
        inputs = ", ".join(self.types[o] for o in operands)
        braces = f" <{{{properties}}}>" if properties else ""
        self.lines.append(f'{name} = "tosa.{kind}"({", ".join(operands)}){braces} : ({inputs}) -> {self.types[name]}')
        return name

    def const(self, values: npt.ArrayLike) -> str:
        data = np.ascontiguousarray(values, np.float32)
        type_ = self.tensor(data.shape)
        return self.op("const", [], data.shape, f'values = dense<"0x{data.tobytes().hex()}"> : {type_}')

    def dims(self, values: tuple[int, ...]) -> str:
        text = f"values = dense<[{', '.join(map(str, values))}]> : tensor<{len(values)}xindex>"
        return self.op("const_shape", [], (len(values),), text, f"!tosa.shape<{len(values)}>")

    def normal(self, *shape: int, scale: float = 0.5) -> F32:
        return self.random.normal(0, scale, shape).astype(np.float32)

    def transpose(self, x: str, perms: tuple[int, ...]) -> str:
        shape = tuple(self.shapes[x][p] for p in perms)
        return self.op("transpose", [x], shape, f"perms = array<i32: {', '.join(map(str, perms))}>")

    def reshape(self, x: str, *shape: int) -> str:
        return self.op("reshape", [x, self.dims(shape)], shape)

    def binary(self, kind: str, a: str, b: str) -> str:
        shape = tuple(np.broadcast_shapes(self.shapes[a], self.shapes[b]))
        shift = (
            [self.op("const", [], (1,), "values = dense<0> : tensor<1xi8>", "tensor<1xi8>")] if kind == "mul" else []
        )
        return self.op(kind, [a, b, *shift], shape)

    def pad(self, x: str, amounts: tuple[int, ...], value: float = 0.0) -> str:
        shape = tuple(d + amounts[2 * i] + amounts[2 * i + 1] for i, d in enumerate(self.shapes[x]))
        return self.op("pad", [x, self.dims(amounts), self.const([value])], shape)

    def slice(self, x: str, start: tuple[int, ...], size: tuple[int, ...]) -> str:
        return self.op("slice", [x, self.dims(start), self.dims(size)], size)

    def conv(self, x: str, channels: int, k: int, stride: int = 1, pad: int = 0, depthwise: bool = False) -> str:
        """Of an N, C, H, W image, transposes included. Depthwise weights are a transpose of a constant.

        TOSA wants sizes that the stride divides: the padding at the end gives way, then the image.
        """
        y = self.transpose(x, CHANNELS_LAST)
        n, h, w, c = self.shapes[y]
        crops = [max(0, (d + 2 * pad - k) % stride - pad) for d in (h, w)]
        if any(crops):
            h, w = h - crops[0], w - crops[1]
            y = self.slice(y, (0, 0, 0, 0), (n, h, w, c))
        if depthwise:
            channels = c
            weight = self.transpose(self.const(self.normal(c, k, k, 1)), (1, 2, 0, 3))
        else:
            weight = self.const(self.normal(channels, k, k, c))
        zero = self.const([0.0])
        size = [(d + 2 * pad - k) // stride + 1 for d in (h, w)]
        ends = [(s - 1) * stride + k - d - pad for s, d in zip(size, (h, w), strict=True)]
        text = f"acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: {pad}, {ends[0]}, {pad}, {ends[1]}>, "
        text += f"stride = array<i64: {stride}, {stride}>"
        kind = "depthwise_conv2d" if depthwise else "conv2d"
        operands = [y, weight, self.const(self.normal(channels)), zero, zero]
        return self.transpose(self.op(kind, operands, (n, *size, channels), text), CHANNELS_FIRST)

    def batch_norm(self, x: str) -> str:
        c = self.shapes[x][1]
        mean, gamma, beta = (self.const(self.normal(1, c, 1, 1)) for _ in range(3))
        variance = self.const(self.random.uniform(0.5, 2, (1, c, 1, 1)))
        factor = self.op("rsqrt", [self.binary("add", variance, self.const([[[[1e-5]]]]))], (1, c, 1, 1))
        normal = self.binary("mul", self.binary("sub", x, mean), factor)
        return self.binary("add", self.binary("mul", normal, gamma), beta)

    def relu6(self, x: str) -> str:
        return self.binary("minimum", self.binary("maximum", x, self.const([[[[0.0]]]])), self.const([[[[6.0]]]]))

    def linear(self, x: str, outputs: int) -> str:
        rows, k = self.shapes[x]
        zero = self.const([0.0])
        operands = [self.reshape(x, 1, rows, k), self.const(self.normal(1, k, outputs, scale=0.2)), zero, zero]
        y = self.reshape(self.op("matmul", operands, (1, rows, outputs)), rows, outputs)
        return self.binary("add", y, self.const(self.normal(1, outputs)))

    def pool(self, x: str, kind: str, kernel: tuple[int, int]) -> str:
        """Without padding, stride 1, of an N, C, H, W image."""
        y = self.transpose(x, CHANNELS_LAST)
        n, h, w, c = self.shapes[y]
        text = f"kernel = array<i64: {kernel[0]}, {kernel[1]}>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>"
        zero = self.const([0.0])
        operands, text = ([y, zero, zero], "acc_type = f32, " + text) if kind == "avg_pool2d" else ([y], text)
        shape = (n, h - kernel[0] + 1, w - kernel[1] + 1, c)
        return self.transpose(self.op(kind, operands, shape, text), CHANNELS_FIRST)

    def module(self, result: str) -> str:
        body = "\n".join(self.lines)
        function = f'function_type = ({self.types["%x"]}) -> {self.types[result]}, sym_name = "net"'
        head = f'"func.func"() <{{{function}}}> ({{\n^bb0(%x: {self.types["%x"]}):'
        return f'{head}\n{body}\n"func.return"({result}) : ({self.types[result]}) -> ()\n}}) : () -> ()\n'


def blocks(w: Writer) -> str:
    """Batch norms, ReLU6, depthwise weights, explicit padding, an odd size with a slice, residual, flattening."""
    y = w.relu6(w.batch_norm(w.conv(w.pad("%x", (0, 0, 0, 0, 1, 1, 1, 1)), 8, 3, stride=2)))
    y = w.relu6(w.batch_norm(w.conv(y, 8, 3, pad=1, depthwise=True)))
    y = w.binary("add", y, w.batch_norm(w.conv(y, 8, 1)))
    n, c, h, wd = w.shapes[y]
    y = w.conv(w.slice(y, (0, 0, 0, 0), (n, c, h - 1, wd)), 6, 1)
    y = w.pool(y, "max_pool2d", (3, 2))
    y = w.reshape(y, 1, int(np.prod(w.shapes[y])))
    return w.linear(w.linear(y, 7), 5)


def excitation(w: Writer) -> str:
    """Input normalisation, squeeze and excitation, concat, a mean by reductions, counted padding of an average."""
    y = w.binary("add", w.binary("mul", "%x", w.const(w.normal(1, 3, 1, 1))), w.const(w.normal(1, 3, 1, 1)))
    y = w.conv(y, 6, 3)
    n, c, h, wd = w.shapes[y]
    s = w.op("reduce_sum", [w.op("reduce_sum", [y], (n, c, 1, wd), "axis = 2 : i32")], (n, c, 1, 1), "axis = 3 : i32")
    s = w.conv(w.binary("mul", s, w.const([[[[1 / (h * wd)]]]])), c, 1)
    y = w.binary("mul", y, w.op("sigmoid", [s], w.shapes[s]))
    y = w.op("concat", [y, w.conv(y, 4, 3, pad=1)], (n, c + 4, h, wd), "axis = 1 : i32")
    return w.pool(w.pad(y, (0, 0, 0, 0, 1, 1, 0, 2)), "avg_pool2d", (3, 3))


def shuffle(w: Writer) -> str:
    """Batch norms before the convolution, a channel shuffle, halves, ReLU behind max_pool with padding of zero."""
    y = w.conv(w.relu6(w.batch_norm(w.conv("%x", 8, 3, pad=1))), 8, 1)
    n, c, h, wd = w.shapes[y]
    y = w.reshape(w.transpose(w.reshape(y, n, 2, c // 2, h, wd), (0, 2, 1, 3, 4)), n, c, h, wd)
    left = w.slice(y, (0, 0, 0, 0), (n, c // 2, h, wd))
    right = w.slice(y, (0, c // 2, 0, 0), (n, c // 2, h, wd))
    right = w.relu6(w.batch_norm(w.conv(right, c // 2, 3, pad=1)))
    y = w.op("concat", [left, right], (n, c, h, wd), "axis = 1 : i32")
    y = w.pool(w.pad(w.relu6(y), (0, 0, 0, 0, 1, 1, 1, 1)), "max_pool2d", (3, 3))
    return w.relu6(w.pool(w.conv(y, 4, 3), "max_pool2d", (2, 2)))


def tokens(w: Writer) -> str:
    """Patches of a vision transformer: a layer of many rows, attention between activations."""
    y = w.conv("%x", 6, 4, stride=4)
    n, c, h, wd = w.shapes[y]
    y = w.transpose(w.reshape(y, n, c, h * wd), (0, 2, 1))
    z = w.reshape(w.linear(w.reshape(y, h * wd, c), c), n, h * wd, c)
    zero = w.const([0.0])
    scores = w.op("matmul", [y, w.transpose(z, (0, 2, 1)), zero, zero], (n, h * wd, h * wd))
    return w.op("matmul", [w.op("tanh", [scores], (n, h * wd, h * wd)), z, zero, zero], (n, h * wd, c))


def program(name: str) -> str:
    try:
        return str(tools.find_program(name))
    except ConquerError as error:
        pytest.skip(str(error))


def optimise(folder: Path, source: str, target: str, *passes: str) -> str:
    command = [program("conquer-opt"), source, "-o", target, *passes]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return (folder / target).read_text()


def evaluate(folder: Path, prepared: str, output: str) -> F32:
    params = {"policy": None, "samples": str(folder / "x.npy"), "output": str(folder / output)}
    request = json.dumps({"id": 1, "method": "run", "params": params})
    command = [program("conquer-eval"), "--prepared", prepared, "--profile", "x86-64"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, input=request + "\n")
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["ok"], answer
    result: F32 = np.load(folder / output)
    return result


@pytest.mark.parametrize("size", [(17, 14), (20, 21)])
@pytest.mark.parametrize("network", [blocks, excitation, shuffle, tokens])
def test_prepared_network_computes_the_same(
    network: Callable[[Writer], str], size: tuple[int, int], tmp_path: Path
) -> None:
    if network is tokens:
        size = (16, 12)
    shape = (1, 3, *size)
    writer = Writer(sum(size), shape)
    (tmp_path / "model.mlir").write_text(writer.module(network(writer)))
    optimise(tmp_path, "model.mlir", "before.mlir", "--conquer-assign-ids")
    after = optimise(
        tmp_path, "model.mlir", "after.mlir", "--conquer-prepare-pipeline=profile=x86-64 layers=layers.json"
    )

    np.save(tmp_path / "x.npy", np.random.default_rng(1).normal(0, 1, (3, *shape[1:])).astype(np.float32))
    expected, actual = evaluate(tmp_path, "before.mlir", "e.npy"), evaluate(tmp_path, "after.mlir", "a.npy")
    assert expected.shape == actual.shape
    assert np.abs(actual - expected).max() <= 1e-5 * np.abs(expected).max()

    # What the stage is for: convolutions with constant weights, and transposes at the border only.
    layers = json.loads((tmp_path / "layers.json").read_text())["layers"]
    matmuls = [layer for layer in layers if layer["op"] == "matmul"]
    assert len(matmuls) == (2 if network is tokens else 0)
    transposes: dict[Callable[[Writer], str], int] = {blocks: 1, excitation: 2, shuffle: 3, tokens: 2}
    assert after.count("tosa.transpose ") == transposes[network]
    assert "tosa.maximum" not in after and "tosa.sub" not in after
