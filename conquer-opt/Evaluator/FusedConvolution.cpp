//===- FusedConvolution.cpp - fused operations on the microkernels ----------------------------===//
//
// conquer.conv2d and conquer.depthwise_conv2d are one kernel call each, of the very kernels that a
// module calls.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Evaluator/ConvolutionGeometry.h"
#include "conquer-opt/Evaluator/PackedWeights.h"

#include <cstring>

using namespace conquer;

uint64_t conquer::packKey(const NodeView &view, const cq_conv2d_params &params, bool depthwise) {
  uint64_t key = hashBytes(&params, sizeof params, view.in(1).hash);
  key = hashBytes(&view.in(2).hash, sizeof view.in(2).hash, key);
  key = hashBytes(view.level.name, std::strlen(view.level.name), key);
  return hashBytes(&depthwise, sizeof depthwise, key);
}

const cq_integer_kernels &conquer::integerKernels(const NodeView &view, bool depthwise) {
  if (view.in(1).type == ElementType::I4)
    return depthwise ? view.level.depthwise_w4a8 : view.level.conv2d_w4a8;
  return depthwise ? view.level.depthwise_i8 : view.level.conv2d_i8;
}

PackedInteger conquer::packInteger(const NodeView &view, const cq_conv2d_params &params,
                                   bool depthwise) {
  const cq_integer_kernels &kernels = integerKernels(view, depthwise);
  PackedInteger packed;
  packed.biasOffset = (kernels.size(&params) + 63) / 64 * 64;
  packed.buffer = view.packs.get(packKey(view, params, depthwise), [&] {
    Buffer buffer(packed.biasOffset + params.out_c * sizeof(int32_t));
    Buffer bias = expandBias<int32_t>(view.in(2), params.out_c);
    kernels.pack(reinterpret_cast<const int8_t *>(view.in(1).constant->data()),
                 reinterpret_cast<const int32_t *>(bias.data()), &params,
                 reinterpret_cast<int8_t *>(buffer.data()),
                 reinterpret_cast<int32_t *>(buffer.data() + packed.biasOffset));
    return buffer;
  });
  return packed;
}

namespace {

/// Zero points and clamps.
Status readEpilogue(const NodeView &view, cq_conv2d_params &params) {
  auto code = [&](const char *name, int64_t fallback) {
    return static_cast<int32_t>(view.integer(name, fallback));
  };
  params.input_zp = code("input_zp", 0);
  params.output_zp = code("output_zp", 0);
  params.clamp_min = code("clamp_min", -128);
  params.clamp_max = code("clamp_max", 127);
  constexpr double largest = std::numeric_limits<float>::max();
  params.clamp_min_f32 = static_cast<float>(view.number("clamp_min_f32", -largest));
  params.clamp_max_f32 = static_cast<float>(view.number("clamp_max_f32", largest));
  for (int32_t value : {params.input_zp, params.output_zp, params.clamp_min, params.clamp_max})
    if (value < -128 || value > 127)
      return view.error("zero point or clamp is " + std::to_string(value), "-128 to 127");
  return success();
}

Result<Step> makeInteger(const NodeView &view, const cq_conv2d_params &params, bool depthwise) {
  bool isWeight = view.in(1).type == ElementType::I8 || view.in(1).type == ElementType::I4;
  if (view.in(0).type != ElementType::I8 || !isWeight || view.in(2).type != ElementType::I32 ||
      view.in(3).type != ElementType::F32 || view.in(3).elements() != params.out_c)
    return view.unsupported();
  if (!view.in(3).constant)
    return view.error("the multiplier is not a constant", "a constant");
  const cq_integer_kernels &kernels = integerKernels(view, depthwise);
  PackedInteger packed = packInteger(view, params, depthwise);
  auto bind = [&](auto run, auto zero) {
    using Out = decltype(zero);
    return Step{[params, packed, run](const Operands &operands) {
      run(operands.in<int8_t>(0), packed.weights(), packed.bias(), operands.in<float>(3), &params,
          operands.out<Out>(), 0, 1);
    }};
  };
  if (view.out().type == ElementType::I8)
    return bind(kernels.to_i8, int8_t());
  if (view.out().type == ElementType::F32)
    return bind(kernels.to_f32, float());
  return view.unsupported();
}

Result<Step> makeBF16(const NodeView &view, const cq_conv2d_params &params, bool depthwise) {
  if (view.in(0).type != ElementType::BF16 || view.in(1).type != ElementType::BF16 ||
      view.in(2).type != ElementType::F32 || view.out().type != ElementType::BF16)
    return view.unsupported();
  const cq_bf16_kernels &kernels = depthwise ? view.level.depthwise_bf16 : view.level.conv2d_bf16;
  auto packed = packFloat<uint16_t>(view, kernels, params, depthwise);
  Buffer bias = expandBias<float>(view.in(2), params.out_c);
  return Step{[params, packed, bias, run = kernels.run](const Operands &operands) {
    run(operands.in<uint16_t>(0), reinterpret_cast<const uint16_t *>(packed->data()),
        reinterpret_cast<const float *>(bias.data()), &params, operands.out<uint16_t>(), 0, 1);
  }};
}

} // namespace

Result<Step> conquer::makeFused(const NodeView &view) {
  bool isFloat = view.numInputs() == 3; // without multipliers
  if (Status status = view.expect(isFloat ? 3 : 4); !status)
    return status.error();
  bool depthwise = view.op() == "conquer.depthwise_conv2d";
  Result<cq_conv2d_params> read = readConvolution(view, depthwise);
  if (!read)
    return read.error();
  cq_conv2d_params params = *read;
  if (Status status = readEpilogue(view, params); !status)
    return status.error();
  if (!view.in(1).constant || !view.in(2).constant)
    return view.error("weights or bias is not a constant", "constants");
  return isFloat ? makeBF16(view, params, depthwise) : makeInteger(view, params, depthwise);
}
