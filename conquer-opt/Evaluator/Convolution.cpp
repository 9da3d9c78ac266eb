//===- Convolution.cpp - TOSA's convolutions on the microkernels ------------------------------===//
//
// f32 convolutions run on the f32 kernels with a following clamp folded in, i8 ones on the i8
// kernels where f32 holds their accumulators exactly. Other forms go to PlainConvolution.cpp, fused
// operations to FusedConvolution.cpp.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Evaluator/ConvolutionGeometry.h"
#include "conquer-opt/Evaluator/PackedWeights.h"

#include <algorithm>
#include <cstring>
#include <optional>

using namespace conquer;

namespace {

/// Attribute lists of a convolution.
struct Window {
  std::vector<int64_t> pad, stride, dilation;
};

Result<Window> readWindow(const NodeView &view) {
  Window window{view.integers("pad"), view.integers("stride"), view.integers("dilation")};
  if (window.pad.size() != 4 || window.stride.size() != 2 || window.dilation.size() != 2)
    return view.error("malformed convolution", "4 pads, 2 strides and 2 dilations");
  for (int64_t pad : window.pad)
    if (pad < 0 || pad > 1 << 20)
      return view.error("pad is " + std::to_string(pad), "0 to 1048576");
  for (const auto &list : {window.stride, window.dilation})
    for (int64_t value : list)
      if (value < 1 || value > 1 << 20)
        return view.error("stride or dilation is " + std::to_string(value), "1 to 1048576");
  return window;
}

int64_t outputSize(int64_t input, int64_t kernel, int64_t before, int64_t after, int64_t stride,
                   int64_t dilation) {
  int64_t room = input + before + after - (kernel - 1) * dilation - 1;
  return room < 0 ? 0 : room / stride + 1;
}

int32_t narrow(int64_t value) { return static_cast<int32_t>(value); }

} // namespace

Result<cq_conv2d_params> conquer::readConvolution(const NodeView &view, bool depthwise) {
  Result<Window> window = readWindow(view);
  if (!window)
    return window.error();
  const std::vector<int64_t> &in = view.in(0).shape, &weights = view.in(1).shape,
                             &out = view.out().shape;
  if (in.size() != 4 || weights.size() != 4 || out.size() != 4)
    return view.error("operands are not of rank 4");
  int64_t kernelH = weights[depthwise ? 0 : 1], kernelW = weights[depthwise ? 1 : 2];
  int64_t channelsIn = weights[depthwise ? 2 : 3];
  int64_t channelsOut = depthwise ? weights[2] * weights[3] : weights[0];
  const auto &[pad, stride, dilation] = *window;
  std::vector<int64_t> expected = {
      in[0], outputSize(in[1], kernelH, pad[0], pad[1], stride[0], dilation[0]),
      outputSize(in[2], kernelW, pad[2], pad[3], stride[1], dilation[1]), channelsOut};
  if (channelsIn != in[3] || out != expected)
    return view.error("input " + view.in(0).typeName() + " and weights " + view.in(1).typeName() +
                      " do not lead to " + view.out().typeName());
  int64_t biases = view.in(2).elements();
  if (view.in(2).shape.size() != 1 || (biases != channelsOut && biases != 1))
    return view.error("bias is " + view.in(2).typeName(),
                      std::to_string(channelsOut) + " elements or one");
  cq_conv2d_params params = {};
  params.batch = narrow(in[0]), params.in_h = narrow(in[1]), params.in_w = narrow(in[2]);
  params.in_c = narrow(in[3]), params.out_h = narrow(out[1]), params.out_w = narrow(out[2]);
  params.out_c = narrow(out[3]), params.kernel_h = narrow(kernelH);
  params.kernel_w = narrow(kernelW), params.stride_h = narrow(stride[0]);
  params.stride_w = narrow(stride[1]), params.dilation_h = narrow(dilation[0]);
  params.dilation_w = narrow(dilation[1]), params.pad_top = narrow(pad[0]);
  params.pad_left = narrow(pad[2]);
  return params;
}

namespace {

Result<Step> makeFloat(const NodeView &view, bool depthwise) {
  Result<cq_conv2d_params> read = readConvolution(view, depthwise);
  if (!read)
    return read.error();
  cq_conv2d_params params = *read;
  params.clamp_min_f32 = view.clampMin;
  params.clamp_max_f32 = view.clampMax;
  const cq_f32_kernels &kernels = depthwise ? view.level.depthwise_f32 : view.level.conv2d_f32;
  auto packed = packFloat<float>(view, kernels, params, depthwise);
  Buffer bias = expandBias<float>(view.in(2), params.out_c);
  return Step{[params, packed, bias, run = kernels.run](const Operands &operands) {
    run(operands.in<float>(0), reinterpret_cast<const float *>(packed->data()),
        reinterpret_cast<const float *>(bias.data()), &params, operands.out<float>(), 0, 1);
  }};
}

/// Whether a TOSA convolution is one for the f32 kernels.
bool isKernelFloat(const NodeView &view) {
  return view.in(0).type == ElementType::F32 && view.in(1).type == ElementType::F32 &&
         view.out().type == ElementType::F32 && view.in(1).constant && view.in(2).constant;
}

/// Whether every accumulator of an i8 convolution is a whole number that f32 holds exactly,
/// whatever the input: then f32(acc) * 1 of the i8-to-f32 kernel is the accumulator itself.
bool fitsFloat(const NodeView &view, const cq_conv2d_params &params, bool depthwise,
               const int32_t *bias) {
  constexpr int64_t limit = int64_t(1) << 24;
  const auto *weights = reinterpret_cast<const int8_t *>(view.in(1).constant->data());
  int64_t channels = params.out_c, taps = view.in(1).elements() / channels;
  int64_t low = -128 - params.input_zp, high = 127 - params.input_zp;
  for (int64_t c = 0; c < channels; ++c) {
    int64_t smallest = bias[c], largest = bias[c];
    for (int64_t t = 0; t < taps; ++t) {
      int64_t w = +weights[depthwise ? t * channels + c : c * taps + t];
      // Zero, the padding, lies between low and high.
      smallest += w > 0 ? w * low : w * high;
      largest += w > 0 ? w * high : w * low;
    }
    if (smallest < -limit || largest > limit)
      return false;
  }
  return true;
}

/// An i8 convolution to i32 on the i8-to-f32 kernel; no step if that would not be exact.
Result<std::optional<Step>> makeExactInteger(const NodeView &view, bool depthwise) {
  std::optional<Step> none;
  Result<cq_conv2d_params> read = readConvolution(view, depthwise);
  if (!read)
    return read.error();
  bool fits = view.in(0).type == ElementType::I8 && view.in(1).type == ElementType::I8 &&
              view.in(2).type == ElementType::I32 && view.out().type == ElementType::I32 &&
              view.in(1).constant && view.in(2).constant && view.in(3).constant &&
              view.in(4).constant;
  if (!fits)
    return none;
  Result<int64_t> inputZp = view.constantInteger(3), weightZp = view.constantInteger(4);
  if (!inputZp)
    return inputZp.error();
  if (!weightZp)
    return weightZp.error();
  cq_conv2d_params params = *read;
  params.input_zp = narrow(*inputZp);
  params.clamp_min_f32 = std::numeric_limits<float>::lowest();
  params.clamp_max_f32 = std::numeric_limits<float>::max();
  Buffer bias = expandBias<int32_t>(view.in(2), params.out_c);
  if (*weightZp != 0 ||
      !fitsFloat(view, params, depthwise, reinterpret_cast<const int32_t *>(bias.data())))
    return none;
  PackedInteger packed = packInteger(view, params, depthwise);
  auto run = depthwise ? view.level.depthwise_i8.to_f32 : view.level.conv2d_i8.to_f32;
  std::vector<float> ones(params.out_c, 1.0f);
  int64_t count = view.out().elements();
  std::optional<Step> step = Step{[=](const Operands &operands) {
                                    auto *exact = reinterpret_cast<float *>(operands.scratch);
                                    run(operands.in<int8_t>(0), packed.weights(), packed.bias(),
                                        ones.data(), &params, exact, 0, 1);
                                    int32_t *out = operands.out<int32_t>();
                                    for (int64_t i = 0; i < count; ++i)
                                      out[i] = static_cast<int32_t>(exact[i]);
                                  },
                                  static_cast<size_t>(count) * sizeof(float)};
  return step;
}

/// TOSA's convolutions: on a kernel where one gives the very same numbers, else by loops.
Result<Step> makeTosa(const NodeView &view, bool depthwise) {
  if (Status status = view.expect(5); !status)
    return status.error();
  if (isKernelFloat(view))
    return makeFloat(view, depthwise);
  Result<std::optional<Step>> exact = makeExactInteger(view, depthwise);
  if (!exact)
    return exact.error();
  if (*exact)
    return **exact;
  return depthwise ? makePlainDepthwise(view) : makePlainConvolution(view);
}

Result<Step> makeConv2d(const NodeView &view) { return makeTosa(view, false); }
Result<Step> makeDepthwise(const NodeView &view) { return makeTosa(view, true); }

} // namespace

StepMaker conquer::findConvolution(std::string_view op) {
  static const std::unordered_map<std::string_view, StepMaker> makers = {
      {"tosa.conv2d", makeConv2d},
      {"tosa.depthwise_conv2d", makeDepthwise},
      {"tosa.transpose_conv2d", makeTransposeConvolution},
      {"tosa.matmul", makeMatMul},
      {"conquer.conv2d", makeFused},
      {"conquer.depthwise_conv2d", makeFused},
  };
  auto found = makers.find(op);
  return found == makers.end() ? nullptr : found->second;
}
