//===- Pooling.cpp - avg_pool2d, max_pool2d ---------------------------------------------------===//

#include "conquer-opt/Evaluator/Rounding.h"
#include "conquer-opt/Evaluator/Step.h"

#include <algorithm>

using namespace conquer;

namespace {

/// Window geometry of one pooling; layout NHWC.
struct Pool {
  int64_t batch, inH, inW, channels, outH, outW;
  int64_t kernelH, kernelW, strideH, strideW, padTop, padLeft;
};

Result<Pool> readPool(const NodeView &view) {
  std::vector<int64_t> kernel = view.integers("kernel"), stride = view.integers("stride"),
                       pad = view.integers("pad");
  const std::vector<int64_t> &in = view.in(0).shape, &out = view.out().shape;
  if (kernel.size() != 2 || stride.size() != 2 || pad.size() != 4 || in.size() != 4 ||
      out.size() != 4)
    return view.error("malformed pooling", "2 kernel sizes, 2 strides, 4 pads, 4 dimensions");
  if (std::min({kernel[0], kernel[1], stride[0], stride[1]}) < 1 ||
      *std::min_element(pad.begin(), pad.end()) < 0)
    return view.error("kernel, stride or pad out of range");
  if (in[0] != out[0] || in[3] != out[3])
    return view.error("batch or channels change");
  // Every window must touch the input, else it has no elements.
  if ((out[1] - 1) * stride[0] - pad[0] >= in[1] || (out[2] - 1) * stride[1] - pad[2] >= in[2] ||
      kernel[0] <= pad[0] || kernel[1] <= pad[2])
    return view.error("a window lies wholly in the padding");
  return Pool{in[0],     in[1],     in[2],     in[3],     out[1], out[2],
              kernel[0], kernel[1], stride[0], stride[1], pad[0], pad[2]};
}

/// Calls cell(first input row of the window, rows, first column, columns, output pixel).
template <typename Cell> void forWindows(const Pool &pool, Cell cell) {
  for (int64_t y = 0; y < pool.outH; ++y) {
    int64_t top = y * pool.strideH - pool.padTop;
    int64_t y0 = std::max<int64_t>(top, 0), y1 = std::min(top + pool.kernelH, pool.inH);
    for (int64_t x = 0; x < pool.outW; ++x) {
      int64_t left = x * pool.strideW - pool.padLeft;
      int64_t x0 = std::max<int64_t>(left, 0), x1 = std::min(left + pool.kernelW, pool.inW);
      cell(y0, y1, x0, x1, y * pool.outW + x);
    }
  }
}

/// Reduces every window with `step(acc, in)` per channel, then `finish(acc, count)`.
template <typename In, typename Acc, typename Start, typename Add, typename Finish>
void runPool(const Pool &pool, const Operands &operands, Start start, Add add, Finish finish) {
  Acc *acc = reinterpret_cast<Acc *>(operands.scratch);
  for (int64_t n = 0; n < pool.batch; ++n) {
    const In *in = operands.in<In>(0) + n * pool.inH * pool.inW * pool.channels;
    In *out = operands.out<In>() + n * pool.outH * pool.outW * pool.channels;
    forWindows(pool, [&](int64_t y0, int64_t y1, int64_t x0, int64_t x1, int64_t pixel) {
      std::fill(acc, acc + pool.channels, start);
      for (int64_t y = y0; y < y1; ++y)
        for (int64_t x = x0; x < x1; ++x) {
          const In *row = in + (y * pool.inW + x) * pool.channels;
          for (int64_t c = 0; c < pool.channels; ++c)
            acc[c] = add(acc[c], row[c]);
        }
      finish(acc, static_cast<uint32_t>((y1 - y0) * (x1 - x0)), out + pixel * pool.channels);
    });
  }
}

template <typename T> Result<Step> averageInteger(const NodeView &view, const Pool &pool) {
  Result<int64_t> inputZp = view.constantInteger(1), outputZp = view.constantInteger(2);
  if (!inputZp)
    return inputZp.error();
  if (!outputZp)
    return outputZp.error();
  auto zpIn = static_cast<int32_t>(*inputZp);
  int64_t zpOut = *outputZp;
  return Step{[pool, zpIn, zpOut](const Operands &operands) {
                runPool<T, int32_t>(
                    pool, operands, 0, [zpIn](int32_t acc, T x) { return acc + x - zpIn; },
                    [&](const int32_t *acc, uint32_t count, T *out) {
                      ReciprocalScale scale(count);
                      for (int64_t c = 0; c < pool.channels; ++c)
                        out[c] = static_cast<T>(std::clamp<int64_t>(
                            applyScale32(acc[c], scale.multiplier, scale.shift, false) + zpOut,
                            std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
                    });
              },
              pool.channels * sizeof(int32_t)};
}

Result<Step> makeAvgPool(const NodeView &view) {
  if (Status status = view.expect(3); !status)
    return status.error();
  Result<Pool> read = readPool(view);
  if (!read)
    return read.error();
  Pool pool = *read;
  if (view.in(0).type != view.out().type)
    return view.unsupported();
  switch (view.in(0).type) {
  case ElementType::I8:
    return averageInteger<int8_t>(view, pool);
  case ElementType::I16:
    return averageInteger<int16_t>(view, pool);
  case ElementType::F32:
    return Step{[pool](const Operands &operands) {
                  runPool<float, float>(
                      pool, operands, 0.0f, [](float acc, float x) { return acc + x; },
                      [&](const float *acc, uint32_t count, float *out) {
                        for (int64_t c = 0; c < pool.channels; ++c)
                          out[c] = acc[c] / static_cast<float>(count);
                      });
                },
                pool.channels * sizeof(float)};
  default:
    return view.unsupported();
  }
}

template <typename T, typename Larger> Step maxPool(const Pool &pool, T lowest, Larger larger) {
  return Step{[pool, lowest, larger](const Operands &operands) {
                runPool<T, T>(pool, operands, lowest, larger, [&](const T *acc, uint32_t, T *out) {
                  std::copy(acc, acc + pool.channels, out);
                });
              },
              pool.channels * sizeof(T)};
}

Result<Step> makeMaxPool(const NodeView &view) {
  if (Status status = view.expect(1); !status)
    return status.error();
  Result<Pool> pool = readPool(view);
  if (!pool)
    return pool.error();
  if (view.in(0).type != view.out().type)
    return view.unsupported();
  float lowest = -std::numeric_limits<float>::infinity();
  auto larger = [](auto a, auto b) { return a > b ? a : b; };
  switch (view.in(0).type) {
  case ElementType::I8:
    return maxPool<int8_t>(*pool, -128, larger);
  case ElementType::I16:
    return maxPool<int16_t>(*pool, -32768, larger);
  case ElementType::F32:
    if (view.ignoresNan())
      return maxPool<float>(*pool, lowest,
                            [](float a, float b) { return a > b || b != b ? a : b; });
    return maxPool<float>(*pool, lowest, [](float a, float b) { return a > b || a != a ? a : b; });
  default:
    return view.unsupported();
  }
}

} // namespace

StepMaker conquer::findPooling(std::string_view op) {
  if (op == "tosa.avg_pool2d")
    return makeAvgPool;
  if (op == "tosa.max_pool2d")
    return makeMaxPool;
  return nullptr;
}
