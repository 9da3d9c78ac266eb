//===- PackedWeights.h - weights as a kernel reads them ---------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_PACKEDWEIGHTS_H
#define CONQUER_OPT_EVALUATOR_PACKEDWEIGHTS_H

#include "conquer-opt/Evaluator/Step.h"

namespace conquer {

/// The bias of every output channel, of type T; a single element stands for all.
template <typename T> Buffer expandBias(const Value &bias, int64_t channels) {
  Buffer result(channels * sizeof(T));
  auto *out = reinterpret_cast<T *>(result.data());
  const auto *in = reinterpret_cast<const T *>(bias.constant->data());
  for (int64_t c = 0; c < channels; ++c)
    out[c] = in[bias.elements() == 1 ? 0 : c];
  return result;
}

/// Packed integer weights; the packed bias lies behind them, at the next multiple of 64.
struct PackedInteger {
  std::shared_ptr<const Buffer> buffer;
  size_t biasOffset = 0;
  const int8_t *weights() const { return reinterpret_cast<const int8_t *>(buffer->data()); }
  const int32_t *bias() const {
    return reinterpret_cast<const int32_t *>(buffer->data() + biasOffset);
  }
};

/// The kernels of the view's level for its weights, which are i8 or i4.
const cq_integer_kernels &integerKernels(const NodeView &view, bool depthwise);

/// Operands 1 and 2 of a convolution, constants of i8 or i4 and i32, packed for integerKernels.
PackedInteger packInteger(const NodeView &view, const cq_conv2d_params &params, bool depthwise);

/// Key of packed weights: contents with their type, geometry, level and op.
uint64_t packKey(const NodeView &view, const cq_conv2d_params &params, bool depthwise);

/// Operand 1, a constant of T (float, or uint16_t for bf16), packed for one of the view's kernels.
template <typename T, typename Kernels>
std::shared_ptr<const Buffer> packFloat(const NodeView &view, const Kernels &kernels,
                                        const cq_conv2d_params &params, bool depthwise) {
  return view.packs.get(packKey(view, params, depthwise), [&] {
    Buffer buffer(kernels.size(&params) * sizeof(T));
    kernels.pack(reinterpret_cast<const T *>(view.in(1).constant->data()), &params,
                 reinterpret_cast<T *>(buffer.data()));
    return buffer;
  });
}

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_PACKEDWEIGHTS_H
