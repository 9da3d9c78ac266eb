//===- Quantization.cpp - the arithmetic of scales, codes and multipliers ---------------------===//

#include "conquer-opt/Analysis/Quantization.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <string>

namespace conquer {

namespace {

/// Scales are kept above this: their reciprocals, products and quotients stay normal f32.
constexpr float minScale = 0x1p-100f;
/// Where the bias of a channel without weights is put.
constexpr double deadChannelBias = 0x1p30;
constexpr int64_t maxAccumulator = INT32_MAX;

/// One channel's codes under a scale.
struct Channel {
  int64_t codeSum = 0; ///< sum of |code|
  double bias = 0;     ///< rounded, maybe outside i32
};

int8_t weightCode(float weight, float scale, double largestCode) {
  double code = std::nearbyint(static_cast<double>(weight) / scale);
  return static_cast<int8_t>(std::clamp(code, -largestCode, largestCode));
}

/// Quantises one channel under `scale` into `codes`.
template <typename Indices>
Channel quantizeChannel(const std::vector<float> &weights, const Indices &indices, float bias,
                        double biasScale, float scale, int32_t largestCode,
                        std::vector<int8_t> &codes) {
  Channel channel;
  indices([&](size_t i) {
    codes[i] = weightCode(weights[i], scale, largestCode);
    channel.codeSum += std::abs(static_cast<int>(codes[i]));
  });
  channel.bias = std::nearbyint(bias / biasScale);
  return channel;
}

/// The scale of a channel before the bias is looked at.
float firstScale(float largestWeight, float bias, float inputScale, int32_t largestCode) {
  if (largestWeight == 0) {
    if (bias == 0)
      return 1;
    double scale = std::fabs(static_cast<double>(bias)) / (deadChannelBias * inputScale);
    return static_cast<float>(std::clamp<double>(scale, minScale, FLT_MAX));
  }
  return std::max(static_cast<float>(static_cast<double>(largestWeight) / largestCode), minScale);
}

Error notFinite(const char *what, size_t channel) {
  return {std::string(what) + " of output channel " + std::to_string(channel) + " is not finite",
          "", "finite weights and biases", "repair the model, or run the layer in f32"};
}

} // namespace

AffineParams affineFromRange(double min, double max) {
  AffineParams params;
  if (max > min)
    params.scale = std::max(static_cast<float>((max - min) / 255), minScale);
  double zero = std::nearbyint(-128 - min / params.scale);
  params.zeroPoint = static_cast<int32_t>(std::clamp(zero, -128.0, 127.0));
  return params;
}

int32_t toCode(double real, AffineParams params) {
  if (std::isnan(real))
    return params.zeroPoint;
  double code = std::nearbyint(real / params.scale) + params.zeroPoint;
  return static_cast<int32_t>(std::clamp(code, -128.0, 127.0));
}

CodeBounds clampToCodes(double low, double high, AffineParams params) {
  return {toCode(low, params), toCode(high, params)};
}

int32_t largestDistance(int32_t zeroPoint) { return std::max(127 - zeroPoint, zeroPoint + 128); }

Result<QuantizedLayer> quantizeLayer(const std::vector<float> &weights,
                                     const std::vector<float> &bias, size_t channels, size_t inner,
                                     AffineParams input, int32_t largestCode) {
  QuantizedLayer layer;
  layer.weights.resize(weights.size());
  const int64_t distance = largestDistance(input.zeroPoint);
  for (size_t c = 0; c < channels; ++c) {
    auto indices = [&](auto &&visit) {
      for (size_t begin = c * inner; begin < weights.size(); begin += channels * inner)
        for (size_t i = begin; i < begin + inner; ++i)
          visit(i);
    };
    float largest = 0;
    bool finite = true;
    indices([&](size_t i) {
      finite &= std::isfinite(weights[i]);
      largest = std::max(largest, std::fabs(weights[i]));
    });
    if (!finite)
      return notFinite("a weight", c);
    if (!std::isfinite(bias[c]))
      return notFinite("the bias", c);

    float scale = firstScale(largest, bias[c], input.scale, largestCode);
    for (;;) {
      double biasScale = static_cast<double>(input.scale) * scale;
      Channel channel =
          quantizeChannel(weights, indices, bias[c], biasScale, scale, largestCode, layer.weights);
      double bound = static_cast<double>(channel.codeSum * distance) + std::fabs(channel.bias);
      if (bound <= static_cast<double>(maxAccumulator)) {
        layer.bias.push_back(static_cast<int32_t>(channel.bias));
        layer.bound.push_back(static_cast<int64_t>(bound));
        break;
      }
      // Wider by what is needed and a little more, since rounding may add to the codes again.
      double wider = scale * std::max(bound / static_cast<double>(maxAccumulator), 1.0) * 1.0001;
      if (wider > FLT_MAX)
        return Error{"the bias of output channel " + std::to_string(c) + " is too large for i32",
                     "", "a bias that the weights' scale can carry", "run the layer in f32"};
      scale = static_cast<float>(wider);
    }
    layer.scales.push_back(scale);
  }
  return layer;
}

float toMultiplier(double multiplier) {
  if (multiplier > FLT_MAX)
    return FLT_MAX;
  float rounded = static_cast<float>(multiplier);
  return rounded < FLT_MIN ? 0 : rounded;
}

Result<Rescale> chooseRescale(double factor, int64_t bound) {
  int exponent = 0;
  double fraction = std::frexp(factor, &exponent); // factor = fraction * 2^exponent
  double multiplier = std::nearbyint(fraction * 0x1p31);
  if (multiplier == 0x1p31) {
    multiplier = 0x1p30;
    ++exponent;
  }
  int shift = 31 - exponent;
  if (shift > 62 || factor == 0) {
    multiplier = std::nearbyint(std::ldexp(factor, 62));
    shift = 62;
  }
  if (shift < 2 || bound >= (int64_t{1} << (shift - 1)))
    return Error{"values of up to " + std::to_string(bound) + " cannot be rescaled by " +
                     std::to_string(factor),
                 "", "a result within 2^30 output steps",
                 "calibrate with a range that fits the values, or run the layer in f32"};
  return Rescale{static_cast<int32_t>(multiplier), shift};
}

AddFloat32 chooseAddFloat32(AffineParams a, AffineParams b, AffineParams output) {
  const double largest = std::max(a.scale, b.scale);
  AddFloat32 add;
  add.multiplierA = static_cast<int32_t>(std::nearbyint(a.scale / largest * 0x1p14));
  add.multiplierB = static_cast<int32_t>(std::nearbyint(b.scale / largest * 0x1p14));
  add.constant = -(a.zeroPoint * add.multiplierA + b.zeroPoint * add.multiplierB);
  add.multiplier = toMultiplier(largest / 0x1p14 / output.scale);
  return add;
}

Result<AddInteger> chooseAddInteger(AffineParams a, AffineParams b, AffineParams output) {
  const double largest = std::max(a.scale, b.scale);
  const int64_t boundA = largestDistance(a.zeroPoint), boundB = largestDistance(b.zeroPoint);
  Result<Rescale> forA = chooseRescale(a.scale / largest * 0x1p19, boundA);
  Result<Rescale> forB = chooseRescale(b.scale / largest * 0x1p19, boundB);
  // Each operand is at most distance * 2^19, plus one for rounding.
  Result<Rescale> out =
      chooseRescale(largest / 0x1p19 / output.scale, (boundA + boundB) * (int64_t{1} << 19) + 2);
  for (const Result<Rescale> *part : {&forA, &forB, &out})
    if (!*part)
      return part->error();
  return AddInteger{*forA, *forB, *out};
}

} // namespace conquer
