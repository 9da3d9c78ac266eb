//===- PlainConvolution.cpp - convolutions and matrix products by loops -----------------------===//
//
// For what no kernel covers: integer convolutions in TOSA's own form (i8 or i4 weights with zero
// points, i16 activations), transposed convolutions, matrix products. Weights are widened to the
// accumulator's type, their zero point subtracted, and laid out so that output channels are
// innermost: the inner loop is acc[oc] += x * w[oc], which vectorises for every type.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Evaluator/ConvolutionGeometry.h"

#include <algorithm>

using namespace conquer;

namespace {

/// Sizes and zero points; kernels of [taps][inC][outC] after widening (depthwise: [taps][outC]).
struct Plain {
  cq_conv2d_params size;
  int64_t inputZp = 0, weightZp = 0, biases = 1;
};

/// Accumulators wrap instead of overflowing, which TOSA excludes.
template <typename Acc> struct Arithmetic {
  static Acc multiplyAdd(Acc acc, Acc x, Acc w) {
    using U = std::make_unsigned_t<Acc>;
    return static_cast<Acc>(static_cast<U>(acc) + static_cast<U>(x) * static_cast<U>(w));
  }
};
template <> struct Arithmetic<float> {
  static float multiplyAdd(float acc, float x, float w) { return acc + x * w; }
};

/// out[c] += x * w[c].
template <typename Acc> void addScaled(Acc *out, Acc x, const Acc *w, int64_t channels) {
  for (int64_t c = 0; c < channels; ++c)
    out[c] = Arithmetic<Acc>::multiplyAdd(out[c], x, w[c]);
}

template <typename Acc> void addBias(Acc *out, const void *bias, int64_t biases, int64_t channels) {
  const Acc *values = static_cast<const Acc *>(bias);
  for (int64_t c = 0; c < channels; ++c)
    out[c] = Arithmetic<Acc>::multiplyAdd(out[c], values[biases == 1 ? 0 : c], Acc(1));
}

/// [OC][KH][KW][IC] to [KH][KW][IC][OC].
template <typename W, typename Acc> void widenWeights(const Plain &plain, const W *in, Acc *out) {
  int64_t taps = int64_t(plain.size.kernel_h) * plain.size.kernel_w, inC = plain.size.in_c,
          outC = plain.size.out_c;
  for (int64_t o = 0; o < outC; ++o)
    for (int64_t k = 0; k < taps * inC; ++k)
      out[k * outC + o] =
          static_cast<Acc>(in[o * taps * inC + k]) - static_cast<Acc>(plain.weightZp);
}

/// Depthwise weights have the right order already.
template <typename W, typename Acc> void widenDepthwise(const Plain &plain, const W *in, Acc *out) {
  int64_t count = int64_t(plain.size.kernel_h) * plain.size.kernel_w * plain.size.out_c;
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<Acc>(in[i]) - static_cast<Acc>(plain.weightZp);
}

/// Calls tap(input pixel, tap number) for the taps of an output pixel that lie inside the input.
template <typename Tap> void forTaps(const cq_conv2d_params &size, int y, int x, Tap tap) {
  for (int ky = 0; ky < size.kernel_h; ++ky) {
    int64_t iy = int64_t(y) * size.stride_h - size.pad_top + int64_t(ky) * size.dilation_h;
    if (iy < 0 || iy >= size.in_h)
      continue;
    for (int kx = 0; kx < size.kernel_w; ++kx) {
      int64_t ix = int64_t(x) * size.stride_w - size.pad_left + int64_t(kx) * size.dilation_w;
      if (ix >= 0 && ix < size.in_w)
        tap(iy * size.in_w + ix, ky * size.kernel_w + kx);
    }
  }
}

template <typename In, typename Acc>
void runConv(const Plain &plain, const In *in, const Acc *weights, const void *bias, Acc *out) {
  const cq_conv2d_params &size = plain.size;
  int64_t inC = size.in_c, outC = size.out_c;
  auto zp = static_cast<Acc>(plain.inputZp);
  for (int n = 0; n < size.batch; ++n, in += int64_t(size.in_h) * size.in_w * inC)
    for (int y = 0; y < size.out_h; ++y)
      for (int x = 0; x < size.out_w; ++x, out += outC) {
        std::fill(out, out + outC, Acc(0));
        forTaps(size, y, x, [&](int64_t pixel, int64_t tap) {
          for (int64_t c = 0; c < inC; ++c)
            addScaled(out, static_cast<Acc>(static_cast<Acc>(in[pixel * inC + c]) - zp),
                      weights + (tap * inC + c) * outC, outC);
        });
        addBias(out, bias, plain.biases, outC);
      }
}

template <typename In, typename Acc>
void runDepthwise(const Plain &plain, const In *in, const Acc *weights, const void *bias,
                  Acc *out) {
  const cq_conv2d_params &size = plain.size;
  int64_t inC = size.in_c, outC = size.out_c, multiplier = outC / inC;
  auto zp = static_cast<Acc>(plain.inputZp);
  for (int n = 0; n < size.batch; ++n, in += int64_t(size.in_h) * size.in_w * inC)
    for (int y = 0; y < size.out_h; ++y)
      for (int x = 0; x < size.out_w; ++x, out += outC) {
        std::fill(out, out + outC, Acc(0));
        forTaps(size, y, x, [&](int64_t pixel, int64_t tap) {
          for (int64_t c = 0; c < inC; ++c)
            addScaled(out + c * multiplier,
                      static_cast<Acc>(static_cast<Acc>(in[pixel * inC + c]) - zp),
                      weights + tap * outC + c * multiplier, multiplier);
        });
        addBias(out, bias, plain.biases, outC);
      }
}

/// Scatters every input pixel; pad_top and pad_left hold TOSA's out_pad, which is subtracted from
/// nothing: output = input * stride + out_pad + tap.
template <typename In, typename Acc>
void runTranspose(const Plain &plain, const In *in, const Acc *weights, const void *bias,
                  Acc *out) {
  const cq_conv2d_params &size = plain.size;
  int64_t inC = size.in_c, outC = size.out_c, pixels = int64_t(size.out_h) * size.out_w;
  auto zp = static_cast<Acc>(plain.inputZp);
  for (int n = 0; n < size.batch; ++n, out += pixels * outC) {
    std::fill(out, out + pixels * outC, Acc(0));
    for (int y = 0; y < size.in_h; ++y)
      for (int x = 0; x < size.in_w; ++x, in += inC)
        for (int tap = 0; tap < size.kernel_h * size.kernel_w; ++tap) {
          int64_t oy = int64_t(y) * size.stride_h + size.pad_top + tap / size.kernel_w;
          int64_t ox = int64_t(x) * size.stride_w + size.pad_left + tap % size.kernel_w;
          if (oy < 0 || oy >= size.out_h || ox < 0 || ox >= size.out_w)
            continue;
          for (int64_t c = 0; c < inC; ++c)
            addScaled(out + (oy * size.out_w + ox) * outC,
                      static_cast<Acc>(static_cast<Acc>(in[c]) - zp),
                      weights + (tap * inC + c) * outC, outC);
        }
    for (int64_t p = 0; p < pixels; ++p)
      addBias(out + p * outC, bias, plain.biases, outC);
  }
}

template <typename In, typename Acc>
using Runner = void (*)(const Plain &, const In *, const Acc *, const void *, Acc *);

/// The step of one type triple; constant weights are widened once, others at every run.
template <typename In, typename W, typename Acc>
Step bindPlain(const NodeView &view, const Plain &plain, Runner<In, Acc> run,
               void (*widen)(const Plain &, const W *, Acc *)) {
  size_t bytes = view.in(1).elements() * sizeof(Acc);
  if (!view.in(1).constant)
    return Step{[plain, run, widen](const Operands &operands) {
                  auto *weights = reinterpret_cast<Acc *>(operands.scratch);
                  widen(plain, operands.in<W>(1), weights);
                  run(plain, operands.in<In>(0), weights, operands.inputs[2], operands.out<Acc>());
                },
                bytes};
  uint64_t key = hashBytes(&plain.size, sizeof plain.size, view.in(1).hash);
  key = hashBytes(&plain.weightZp, sizeof plain.weightZp, key);
  auto packed = view.packs.get(hashBytes("plain", 5, key), [&] {
    Buffer buffer(bytes);
    widen(plain, reinterpret_cast<const W *>(view.in(1).constant->data()),
          reinterpret_cast<Acc *>(buffer.data()));
    return buffer;
  });
  return Step{[plain, run, packed](const Operands &operands) {
    run(plain, operands.in<In>(0), reinterpret_cast<const Acc *>(packed->data()),
        operands.inputs[2], operands.out<Acc>());
  }};
}

/// Which of the three loops; each comes in all type triples.
enum class Form { Conv, Depthwise, Transpose };

template <typename In, typename W, typename Acc>
Result<Step> bindForm(const NodeView &view, const Plain &plain, Form form) {
  switch (form) {
  case Form::Conv:
    return bindPlain<In, W, Acc>(view, plain, runConv<In, Acc>, widenWeights<W, Acc>);
  case Form::Depthwise:
    return bindPlain<In, W, Acc>(view, plain, runDepthwise<In, Acc>, widenDepthwise<W, Acc>);
  case Form::Transpose:
    return bindPlain<In, W, Acc>(view, plain, runTranspose<In, Acc>, widenWeights<W, Acc>);
  }
  return view.unsupported();
}

Result<Step> bindTypes(const NodeView &view, Plain plain, Form form) {
  Result<int64_t> inputZp = view.constantInteger(3), weightZp = view.constantInteger(4);
  if (!inputZp)
    return inputZp.error();
  if (!weightZp)
    return weightZp.error();
  plain.inputZp = *inputZp;
  plain.weightZp = *weightZp;
  plain.biases = view.in(2).elements();
  ElementType in = view.in(0).type, weights = view.in(1).type, out = view.out().type;
  if (view.in(2).type != out)
    return view.unsupported();
  bool byteWeights = weights == ElementType::I8 || weights == ElementType::I4;
  if (in == ElementType::F32 && weights == ElementType::F32 && out == ElementType::F32)
    return bindForm<float, float, float>(view, plain, form);
  if (in == ElementType::I8 && byteWeights && out == ElementType::I32)
    return bindForm<int8_t, int8_t, int32_t>(view, plain, form);
  if (in == ElementType::I16 && byteWeights && out == ElementType::I48)
    return bindForm<int16_t, int8_t, int64_t>(view, plain, form);
  return view.unsupported();
}

template <typename In, typename Acc>
Step bindMatMul(const NodeView &view, int64_t zpA, int64_t zpB) {
  int64_t batch = view.in(0).shape[0], rows = view.in(0).shape[1], inner = view.in(0).shape[2],
          columns = view.in(1).shape[2];
  return Step{[=](const Operands &operands) {
                const In *a = operands.in<In>(0);
                Acc *out = operands.out<Acc>();
                auto *b = reinterpret_cast<Acc *>(operands.scratch);
                for (int64_t n = 0; n < batch; ++n) {
                  const In *second = operands.in<In>(1) + n * inner * columns;
                  for (int64_t i = 0; i < inner * columns; ++i)
                    b[i] = static_cast<Acc>(second[i]) - static_cast<Acc>(zpB);
                  for (int64_t r = 0; r < rows; ++r, out += columns) {
                    std::fill(out, out + columns, Acc(0));
                    for (int64_t k = 0; k < inner; ++k, ++a)
                      addScaled(out, static_cast<Acc>(static_cast<Acc>(*a) - static_cast<Acc>(zpA)),
                                b + k * columns, columns);
                  }
                }
              },
              static_cast<size_t>(inner * columns) * sizeof(Acc)};
}

} // namespace

Result<Step> conquer::makePlainConvolution(const NodeView &view) {
  Result<cq_conv2d_params> size = readConvolution(view, false);
  if (!size)
    return size.error();
  return bindTypes(view, Plain{*size}, Form::Conv);
}

Result<Step> conquer::makePlainDepthwise(const NodeView &view) {
  Result<cq_conv2d_params> size = readConvolution(view, true);
  if (!size)
    return size.error();
  return bindTypes(view, Plain{*size}, Form::Depthwise);
}

Result<Step> conquer::makeTransposeConvolution(const NodeView &view) {
  if (Status status = view.expect(5); !status)
    return status.error();
  std::vector<int64_t> pad = view.integers("out_pad"), stride = view.integers("stride");
  const std::vector<int64_t> &in = view.in(0).shape, &weights = view.in(1).shape,
                             &out = view.out().shape;
  if (pad.size() != 4 || stride.size() != 2 || in.size() != 4 || weights.size() != 4 ||
      out.size() != 4 || stride[0] < 1 || stride[1] < 1)
    return view.error("malformed transposed convolution", "4 pads, 2 strides, rank 4");
  int64_t biases = view.in(2).elements();
  if (weights[3] != in[3] || weights[0] != out[3] || in[0] != out[0] ||
      view.in(2).shape.size() != 1 || (biases != out[3] && biases != 1) ||
      out[1] != (in[1] - 1) * stride[0] + pad[0] + pad[1] + weights[1] ||
      out[2] != (in[2] - 1) * stride[1] + pad[2] + pad[3] + weights[2])
    return view.error("input " + view.in(0).typeName() + " and weights " + view.in(1).typeName() +
                      " do not lead to " + view.out().typeName());
  Plain plain{};
  auto set = [](int32_t &field, int64_t value) { field = static_cast<int32_t>(value); };
  set(plain.size.batch, in[0]), set(plain.size.in_h, in[1]), set(plain.size.in_w, in[2]);
  set(plain.size.in_c, in[3]), set(plain.size.out_h, out[1]), set(plain.size.out_w, out[2]);
  set(plain.size.out_c, out[3]), set(plain.size.kernel_h, weights[1]);
  set(plain.size.kernel_w, weights[2]), set(plain.size.stride_h, stride[0]);
  set(plain.size.stride_w, stride[1]), set(plain.size.pad_top, pad[0]);
  set(plain.size.pad_left, pad[2]);
  return bindTypes(view, plain, Form::Transpose);
}

Result<Step> conquer::makeMatMul(const NodeView &view) {
  if (Status status = view.expect(4); !status)
    return status.error();
  const std::vector<int64_t> &a = view.in(0).shape, &b = view.in(1).shape, &out = view.out().shape;
  if (a.size() != 3 || b.size() != 3 || a[0] != b[0] || a[2] != b[1] ||
      out != std::vector<int64_t>{a[0], a[1], b[2]})
    return view.error("operands " + view.in(0).typeName() + " and " + view.in(1).typeName() +
                      " do not lead to " + view.out().typeName());
  Result<int64_t> zpA = view.constantInteger(2), zpB = view.constantInteger(3);
  if (!zpA)
    return zpA.error();
  if (!zpB)
    return zpB.error();
  ElementType in = view.in(0).type, result = view.out().type;
  if (view.in(1).type != in)
    return view.unsupported();
  if (in == ElementType::F32 && result == ElementType::F32)
    return bindMatMul<float, float>(view, 0, 0);
  if (in == ElementType::I8 && result == ElementType::I32)
    return bindMatMul<int8_t, int32_t>(view, *zpA, *zpB);
  if (in == ElementType::I16 && result == ElementType::I48)
    return bindMatMul<int16_t, int64_t>(view, *zpA, *zpB);
  return view.unsupported();
}
