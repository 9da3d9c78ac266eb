"""A plain numpy model of the numeric contract, and small networks to judge the compiler with.

Written from the contract (docs/RATIONALE.md, docs/precision-of-other-ops.md), not from the compiler: it is given the
float network, the ranges and the policy, and computes the integers that the quantised network must compute. A network
is a list of nodes in execution order; node 0 is the input.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
Real = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

LAYERS = ("conv2d", "depthwise_conv2d")
# Of the values that a layer of that precision reads and makes.
FORMS = {"f32": "f32", "i8": "i8", "w4a8": "i8"}
LARGEST_CODES = {"i8": 127, "w4a8": 7}
MOVES = ("reshape", "slice", "transpose")


@dataclasses.dataclass
class Node:
    """One op of the network. `inputs` are node indices."""

    kind: str
    id: str
    shape: tuple[int, ...]
    inputs: list[int] = dataclasses.field(default_factory=list)
    weight: F32 | None = None
    bias: F32 | None = None
    pad: tuple[int, ...] = (0, 0, 0, 0)
    stride: tuple[int, int] = (1, 1)
    kernel: tuple[int, int] = (1, 1)
    low: float = 0.0
    high: float = 0.0
    axis: int = 3
    start: tuple[int, ...] = ()
    perms: tuple[int, ...] = ()


class Network:
    """Builds a network node by node; every method returns the node's index."""

    def __init__(self, seed: int, shape: tuple[int, ...], exact: bool = False) -> None:
        self.random = np.random.default_rng(seed)
        self.exact = exact  # weights and ranges such that every f32 sum is exact in any order
        self.nodes = [Node("input", "image", shape)]
        self.results: list[int] = []

    def add_node(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _weights(self, shape: tuple[int, ...], axes: tuple[int, ...], integer: bool) -> F32:
        if not self.exact:
            return self.random.normal(0, 0.4, shape).astype(np.float32)
        if integer:  # codes times 2^-9, the largest of each channel 127: the scale is 2^-9
            codes = self.random.integers(-127, 128, shape)
            index: list[Any] = [0 if axis in axes else slice(None) for axis in range(len(shape))]
            codes[tuple(index)] = 127
            return (codes * 2.0**-9).astype(np.float32)
        return (self.random.integers(-1, 2, shape) * (self.random.random(shape) < 0.3) * 0.5).astype(np.float32)

    def conv(self, x: int, channels: int, k: int = 3, stride: int = 1, pad: int = 1, integer: bool = True) -> int:
        c = self.nodes[x].shape[3]
        weight = self._weights((channels, k, k, c), (1, 2, 3), integer)
        return self._layer("conv2d", x, weight, channels, k, stride, pad)

    def depthwise(self, x: int, k: int = 3, pad: int = 1, integer: bool = True) -> int:
        c = self.nodes[x].shape[3]
        return self._layer("depthwise_conv2d", x, self._weights((k, k, c, 1), (0, 1, 3), integer), c, k, 1, pad)

    def _layer(self, kind: str, x: int, weight: F32, channels: int, k: int, stride: int, pad: int) -> int:
        n, h, w, _ = self.nodes[x].shape
        # TOSA wants exact divisions: the end's padding gives way.
        end = [pad - (size + 2 * pad - k) % stride for size in (h, w)]
        shape = (n, (h + pad + end[0] - k) // stride + 1, (w + pad + end[1] - k) // stride + 1, channels)
        bias = np.round(self.random.normal(0, 0.5, channels) * 16) / 16
        name = f"{kind}_{len(self.nodes)}"
        pads = (pad, end[0], pad, end[1])
        return self.add_node(
            Node(kind, name, shape, [x], weight, bias.astype(np.float32), pads, (stride, stride), (k, k))
        )

    def clamp(self, x: int, low: float = 0.0, high: float = float(np.finfo(np.float32).max)) -> int:
        return self.add_node(Node("clamp", f"clamp_{len(self.nodes)}", self.nodes[x].shape, [x], low=low, high=high))

    def add(self, a: int, b: int) -> int:
        return self.add_node(Node("add", f"add_{len(self.nodes)}", self.nodes[a].shape, [a, b]))

    def pool(self, kind: str, x: int, kernel: tuple[int, int], pad: int = 0) -> int:
        n, h, w, c = self.nodes[x].shape
        shape = (n, h + 2 * pad - kernel[0] + 1, w + 2 * pad - kernel[1] + 1, c)
        name = f"{kind}_{len(self.nodes)}"
        return self.add_node(Node(kind, name, shape, [x], kernel=kernel, pad=(pad,) * 4))

    def concat(self, *inputs: int) -> int:
        shapes = [self.nodes[i].shape for i in inputs]
        shape = (*shapes[0][:3], sum(s[3] for s in shapes))
        return self.add_node(Node("concat", f"concat_{len(self.nodes)}", shape, list(inputs)))

    def reshape(self, x: int, shape: tuple[int, ...]) -> int:
        return self.add_node(Node("reshape", f"reshape_{len(self.nodes)}", shape, [x]))

    def slice(self, x: int, start: tuple[int, ...], size: tuple[int, ...]) -> int:
        return self.add_node(Node("slice", f"slice_{len(self.nodes)}", size, [x], start=start))

    def transpose(self, x: int, perms: tuple[int, ...]) -> int:
        shape = tuple(self.nodes[x].shape[p] for p in perms)
        return self.add_node(Node("transpose", f"transpose_{len(self.nodes)}", shape, [x], perms=perms))

    def layers(self) -> list[str]:
        return [node.id for node in self.nodes if node.kind in LAYERS]

    def users(self, index: int) -> list[int]:
        return [i for i, node in enumerate(self.nodes) if index in node.inputs]

    def fused_clamp(self, index: int) -> int | None:
        """The clamp that belongs to a layer or an add: its only reader."""
        users = self.users(index)
        if self.nodes[index].kind not in (*LAYERS, "add") or len(users) != 1 or index in self.results:
            return None
        return users[0] if self.nodes[users[0]].kind == "clamp" else None

    def is_only_returned(self, index: int) -> bool:
        return self.nodes[index].kind in MOVES and all(self.is_only_returned(user) for user in self.users(index))

    def precisions(self, policy: dict[str, str]) -> list[str]:
        """The form of every node's value: layers from the policy, others by the documented rule."""
        result: list[str] = []
        for index, node in enumerate(self.nodes):
            source = node.inputs[0] if node.inputs else -1
            if node.kind in LAYERS:
                result.append(FORMS[policy[node.id]])
            elif node.kind == "input":
                result.append("f32")
            elif node.kind == "clamp" and self.fused_clamp(source) == index:
                result.append(result[source])
            else:
                fused = self.fused_clamp(index)
                readers = [self.nodes[i] for i in self.users(fused if fused is not None else index)]
                integer = (
                    all(result[i] == "i8" for i in node.inputs)
                    and all(FORMS[policy[r.id]] == "i8" for r in readers if r.kind in LAYERS)
                    and not self.is_only_returned(index)
                )
                result.append("i8" if integer else "f32")
        return result


# --- arithmetic ---------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Params:
    scale: np.float32
    zero: int


def params_of(low: float, high: float) -> Params:
    scale = np.float32((high - low) / 255) if high > low else np.float32(1)
    return Params(scale, int(np.clip(np.rint(-128 - low / float(scale)), -128, 127)))


def to_code(value: float, p: Params) -> int:
    return int(np.clip(np.rint(value / float(p.scale)) + p.zero, -128, 127))


def windows(x: Int | Real, node: Node, fill: float) -> npt.NDArray[Any]:
    """[n, oh, ow, kh, kw, c]."""
    top, bottom, left, right = node.pad
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(padded, node.kernel, axis=(1, 2))
    return view[:, :: node.stride[0], :: node.stride[1]].transpose(0, 1, 2, 4, 5, 3)


def convolve(x: npt.NDArray[Any], weight: npt.NDArray[Any], node: Node) -> npt.NDArray[Any]:
    taps = windows(x, node, 0)
    result: npt.NDArray[Any]
    if node.kind == "depthwise_conv2d":
        result = np.einsum("nhwklc,klc->nhwc", taps, weight[:, :, :, 0])
    else:
        result = np.einsum("nhwklc,oklc->nhwo", taps, weight)
    return result


def rescale(value: Int, factor: float | Real) -> Int:
    """RESCALE, scale32, SINGLE_ROUND."""
    fraction, exponent = np.frexp(np.asarray(factor, np.float64))
    multiplier = np.rint(fraction * 2.0**31).astype(np.int64)
    shift = 31 - exponent.astype(np.int64)
    carry = multiplier == 1 << 31
    multiplier, shift = np.where(carry, 1 << 30, multiplier), np.where(carry, shift - 1, shift)
    tiny = shift > 62
    multiplier = np.where(tiny, np.rint(np.asarray(factor) * 2.0**62).astype(np.int64), multiplier)
    shift = np.where(tiny, 62, shift)
    return (value * multiplier + (np.int64(1) << (shift - 1))) >> shift


def round_float(accumulator: Int, factor: float | Real, low: int, high: int, zero: int) -> Int:
    scaled = accumulator.astype(np.float32) * np.asarray(factor).astype(np.float32)
    return np.rint(np.clip(scaled, np.float32(low - zero), np.float32(high - zero))).astype(np.int64) + zero


def average_codes(x: Int, node: Node, zero: int) -> Int:
    """TOSA's integer avg_pool2d: the sum over the taps inside the image, times a 31-bit reciprocal, half up."""
    total = windows(x - zero, node, 0).sum(axis=(3, 4))
    count = windows(np.ones_like(x), node, 0).sum(axis=(3, 4))
    k = np.array([int(c - 1).bit_length() for c in count.ravel()]).reshape(count.shape)
    multiplier = (((1 << 30) + 1) << k) // count
    result: Int = np.clip(((total * multiplier + (np.int64(1) << (29 + k))) >> (30 + k)) + zero, -128, 127)
    return result


# --- the two evaluations ------------------------------------------------------------------------------------------


def evaluate_float(node: Node, inputs: list[Real]) -> Real:
    """One op in f64, rounded to f32 at the end."""
    x = inputs[0]
    result: Real
    if node.kind in LAYERS:
        assert node.weight is not None and node.bias is not None
        result = convolve(x, node.weight.astype(np.float64), node) + node.bias
    elif node.kind == "clamp":
        result = np.clip(x, node.low, node.high)
    elif node.kind == "add":
        result = inputs[0] + inputs[1]
    elif node.kind == "max_pool2d":
        result = windows(x, node, -math.inf).max(axis=(3, 4))
    elif node.kind == "avg_pool2d":
        result = windows(x, node, 0).sum(axis=(3, 4)) / windows(np.ones_like(x), node, 0).sum(axis=(3, 4))
    else:
        result = move(node, inputs)
    return result.astype(np.float32).astype(np.float64)


def move(node: Node, inputs: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    if node.kind == "concat":
        return np.concatenate(inputs, axis=node.axis)
    if node.kind == "reshape":
        return inputs[0].reshape(node.shape)
    if node.kind == "transpose":
        return inputs[0].transpose(node.perms)
    return inputs[0][tuple(slice(b, b + s) for b, s in zip(node.start, node.shape, strict=True))]


def forward(network: Network, image: F32) -> list[Real]:
    values = [image.astype(np.float64)]
    for node in network.nodes[1:]:
        values.append(evaluate_float(node, [values[i] for i in node.inputs]))
    return values


class Quantized:
    """Evaluates the quantised network. Values are kept as f32 (`real`) and as codes with parameters."""

    def __init__(
        self, network: Network, policy: dict[str, str], ranges: dict[str, tuple[float, float]], requant: str
    ) -> None:
        self.network, self.ranges, self.integer = network, ranges, requant == "integer"
        self.policy, self.precision = policy, network.precisions(policy)
        self.real: dict[int, Real] = {}
        self.code: dict[int, tuple[Int, Params]] = {}

    def as_real(self, index: int) -> Real:
        if index not in self.real:
            codes, p = self.code[index]
            self.real[index] = ((codes - p.zero).astype(np.float32) * p.scale).astype(np.float64)
        return self.real[index]

    def as_code(self, index: int) -> tuple[Int, Params]:
        if index not in self.code:
            p = params_of(*self.ranges[self.network.nodes[index].id])
            one = np.float32(1 / float(p.scale))
            scaled = self.real[index].astype(np.float32) * one
            codes = np.rint(np.clip(scaled, np.float32(-128 - p.zero), np.float32(127 - p.zero)))
            self.code[index] = (codes.astype(np.int64) + p.zero, p)
        return self.code[index]

    def bounds(self, clamp: int | None, p: Params) -> tuple[int, int]:
        if clamp is None:
            return -128, 127
        node = self.network.nodes[clamp]
        return to_code(node.low, p), to_code(node.high, p)

    def requantize(self, accumulator: Int, factor: float | Real, clamp: int | None, p: Params) -> Int:
        low, high = self.bounds(clamp, p)
        if self.integer:
            return np.clip(np.clip(rescale(accumulator, factor) + p.zero, -128, 127), low, high)
        return round_float(accumulator, factor, low, high, p.zero)

    def run_layer(self, index: int) -> None:
        node = self.network.nodes[index]
        assert node.weight is not None and node.bias is not None
        x, p = self.as_code(node.inputs[0])
        axes = (0, 1, 3) if node.kind == "depthwise_conv2d" else (1, 2, 3)
        largest = np.abs(node.weight.astype(np.float64)).max(axis=axes)
        largest_code = LARGEST_CODES[self.policy[node.id]]
        scale = (largest / largest_code).astype(np.float32).astype(np.float64)
        dead = largest == 0  # outputs its bias: the scale puts it at 2^30
        bias_scale = np.abs(node.bias.astype(np.float64)) / (2.0**30 * float(p.scale))
        scale = np.where(dead, np.where(node.bias == 0, 1, bias_scale.astype(np.float32)), scale)
        per_weight = scale[:, None] if node.kind == "depthwise_conv2d" else scale[:, None, None, None]
        codes = np.clip(np.rint(node.weight / per_weight), -largest_code, largest_code).astype(np.int64)
        bias = np.rint(node.bias / (float(p.scale) * scale)).astype(np.int64)
        accumulator = convolve(x - p.zero, codes, node) + bias
        clamp = self.network.fused_clamp(index)
        output = clamp if clamp is not None else index
        if not any(self.precision[user] == "i8" for user in self.network.users(output)):
            real = accumulator.astype(np.float32) * (float(p.scale) * scale).astype(np.float32)
            if clamp is not None:
                real = np.clip(real, np.float32(self.network.nodes[clamp].low), self.network.nodes[clamp].high)
            self.real[output] = real.astype(np.float64)
            return
        q = params_of(*self.ranges[self.network.nodes[output].id])
        factor = float(p.scale) * scale / float(q.scale)
        self.code[output] = (self.requantize(accumulator, factor, clamp, q), q)

    def run_add(self, index: int) -> None:
        clamp = self.network.fused_clamp(index)
        output = clamp if clamp is not None else index
        (a, pa), (b, pb) = (self.as_code(i) for i in self.network.nodes[index].inputs)
        q = params_of(*self.ranges[self.network.nodes[output].id])
        largest = max(float(pa.scale), float(pb.scale))
        if self.integer:
            accumulator = rescale(a - pa.zero, float(pa.scale) / largest * 2.0**19) + rescale(
                b - pb.zero, float(pb.scale) / largest * 2.0**19
            )
            factor = largest / 2.0**19 / float(q.scale)
        else:
            ma, mb = (int(np.rint(float(p.scale) / largest * 2**14)) for p in (pa, pb))
            accumulator = a * ma + b * mb - (pa.zero * ma + pb.zero * mb)
            factor = largest / 2.0**14 / float(q.scale)
        self.code[output] = (self.requantize(accumulator, factor, clamp, q), q)

    def run_other(self, index: int) -> None:
        """Ops that keep their input's parameters, and concat."""
        node = self.network.nodes[index]
        x, p = self.as_code(node.inputs[0])
        if node.kind == "clamp":
            low, high = self.bounds(index, p)
            self.code[index] = (np.clip(x, low, high), p)
        elif node.kind == "max_pool2d":
            self.code[index] = (windows(x, node, -128).max(axis=(3, 4)), p)
        elif node.kind == "avg_pool2d":
            self.code[index] = (average_codes(x, node, p.zero), p)
        elif node.kind == "concat":
            q = params_of(*self.ranges[node.id])
            parts = []
            for codes, own in (self.as_code(i) for i in node.inputs):
                moved = rescale(codes - own.zero, float(own.scale) / float(q.scale)) + q.zero
                parts.append(codes if own == q else np.clip(moved, -128, 127))
            self.code[index] = (np.concatenate(parts, axis=node.axis), q)
        else:
            self.code[index] = (move(node, [x]), p)

    def run(self, image: F32) -> list[F32]:
        self.real[0] = image.astype(np.float64)
        for index, node in enumerate(self.network.nodes):
            if node.kind == "input" or (
                node.kind == "clamp"
                and self.precision[index] == "i8"
                and self.network.fused_clamp(node.inputs[0]) == index
            ):
                continue
            if self.precision[index] == "f32":
                inputs = [self.as_real(i) for i in node.inputs]
                if node.kind in LAYERS:
                    self.check_exact(node, inputs[0])
                self.real[index] = evaluate_float(node, inputs)
            elif node.kind in LAYERS:
                self.run_layer(index)
            elif node.kind == "add":
                self.run_add(index)
            else:
                self.run_other(index)
        return [self.as_real(index).astype(np.float32) for index in self.network.results]

    def check_exact(self, node: Node, x: Real) -> None:
        """An f32 sum has one value in any order only if no partial sum is rounded."""
        assert node.weight is not None and node.bias is not None
        total = convolve(np.abs(x), np.abs(node.weight.astype(np.float64)), node) + np.abs(node.bias)
        unit = min(lowest_bit(x) * lowest_bit(node.weight), lowest_bit(node.bias))
        assert total.max() / unit < 2**24, f"{node.id}: the test's own f32 sums are not exact"


def lowest_bit(values: npt.NDArray[Any]) -> float:
    """The largest power of two that divides all values."""
    mantissa, exponent = np.frexp(np.abs(values[values != 0].astype(np.float64)))
    integers = np.ldexp(mantissa, 53).astype(np.int64)
    low = (integers & -integers).astype(np.float64)
    return float(np.ldexp(low, exponent - 53).min()) if integers.size else 1.0


def observed_ranges(network: Network, images: list[F32]) -> dict[str, tuple[float, float]]:
    """Ranges that cut off a tenth, or in an exact network the smallest that give scales of powers of two."""
    values = [forward(network, image) for image in images]
    ranges = {}
    for index, node in enumerate(network.nodes):
        low = min(0.0, *(float(v[index].min()) for v in values))
        high = max(0.0, *(float(v[index].max()) for v in values))
        if network.exact:
            scale = 2.0 ** math.ceil(math.log2(max(high - low, 1e-3) / 255))
            ranges[node.id] = (0.0, 255 * scale) if low == 0 else (-128 * scale, 127 * scale)
        else:
            ranges[node.id] = (0.9 * low, 0.9 * high)
    return ranges


# --- text ---------------------------------------------------------------------------------------------------------


def dense(values: npt.NDArray[Any]) -> str:
    shape = "x".join(map(str, values.shape))
    return f'dense<"0x{values.astype("<f4").tobytes().hex().upper()}"> : tensor<{shape}xf32>'


def tensor(shape: tuple[int, ...]) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def to_mlir(network: Network) -> str:
    """The network as prepared IR, generic form."""
    lines: list[str] = []

    def constant(name: str, values: npt.NDArray[Any]) -> str:
        kind = tensor(values.shape)
        lines.append(f'  %{name} = "tosa.const"() <{{values = {dense(values)}}}> : () -> {kind}')
        return kind

    def shape_constant(name: str, values: tuple[int, ...]) -> str:
        kind, rank = f"!tosa.shape<{len(values)}>", len(values)
        dims = f"dense<{list(values)}> : tensor<{rank}xindex>"
        lines.append(f'  %{name} = "tosa.const_shape"() <{{values = {dims}}}> : () -> {kind}')
        return kind

    def window(node: Node) -> str:
        pads = ", ".join(map(str, node.pad))
        return f"pad = array<i64: {pads}>, stride = array<i64: {node.stride[0]}, {node.stride[1]}>"

    zero = constant("zero", np.zeros(1, np.float32))
    propagate = "nan_mode = #tosa.nan_mode<PROPAGATE>"
    for index, node in enumerate(network.nodes[1:], 1):
        operands = [f"%v{i}" for i in node.inputs]
        kinds = [tensor(network.nodes[i].shape) for i in node.inputs]
        attributes = ""
        if node.kind in LAYERS:
            assert node.weight is not None and node.bias is not None
            kinds += [constant(f"w{index}", node.weight), constant(f"b{index}", node.bias), zero, zero]
            operands += [f"%w{index}", f"%b{index}", "%zero", "%zero"]
            attributes = f"acc_type = f32, dilation = array<i64: 1, 1>, {window(node)}"
        elif node.kind == "clamp":
            attributes = f"max_val = {node.high!r} : f32, min_val = {node.low!r} : f32, {propagate}"
        elif node.kind == "avg_pool2d":
            operands, kinds = [*operands, "%zero", "%zero"], [*kinds, zero, zero]
            attributes = f"acc_type = f32, kernel = array<i64: {node.kernel[0]}, {node.kernel[1]}>, {window(node)}"
        elif node.kind == "max_pool2d":
            kernel = f"kernel = array<i64: {node.kernel[0]}, {node.kernel[1]}>"
            attributes = f"{kernel}, {propagate}, {window(node)}"
        elif node.kind == "concat":
            attributes = f"axis = {node.axis} : i32"
        elif node.kind == "transpose":
            attributes = f"perms = array<i32: {', '.join(map(str, node.perms))}>"
        elif node.kind == "reshape":
            kinds.append(shape_constant(f"s{index}", node.shape))
            operands.append(f"%s{index}")
        elif node.kind == "slice":
            kinds += [shape_constant(f"s{index}", node.start), shape_constant(f"t{index}", node.shape)]
            operands += [f"%s{index}", f"%t{index}"]
        properties = f" <{{{attributes}}}>" if attributes else ""
        lines.append(
            f'  %v{index} = "tosa.{node.kind}"({", ".join(operands)}){properties} {{conquer.id = "{node.id}"}} : '
            f"({', '.join(kinds)}) -> {tensor(node.shape)}"
        )
    results = ", ".join(f'{tensor(network.nodes[i].shape)} {{conquer.id = "out{i}"}}' for i in network.results)
    values = ", ".join(f"%v{i}" for i in network.results)
    plain = ", ".join(tensor(network.nodes[i].shape) for i in network.results)
    head = f'func.func @main(%v0: {tensor(network.nodes[0].shape)} {{conquer.id = "image"}}) -> ({results}) {{'
    return "\n".join([head, *lines, f"  return {values} : {plain}", "}", ""])
