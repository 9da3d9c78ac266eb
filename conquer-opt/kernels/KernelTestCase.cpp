//===- KernelTestCase.cpp - random convolutions and their plain reference ---------------------===//
#include "conquer-opt/kernels/KernelTestCase.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

using namespace conquer;

namespace {

int uniform(std::mt19937 &rng, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(rng);
}

template <typename T> T pick(std::mt19937 &rng, std::initializer_list<T> values) {
  return values.begin()[uniform(rng, 0, static_cast<int>(values.size()) - 1)];
}

/// Calls visit(inputIndex, weightIndex) for every product of output element `index` whose tap lies
/// inside the image. Weight indices follow the layout before packing.
template <typename Visit> void forEachTap(const KernelTestCase &test, size_t index, Visit visit) {
  const cq_conv2d_params &p = test.params;
  const int64_t element = static_cast<int64_t>(index);
  const int64_t oc = element % p.out_c, ox = element / p.out_c % p.out_w;
  const int64_t oy = element / p.out_c / p.out_w % p.out_h;
  const int64_t image = element / p.out_c / p.out_w / p.out_h;
  const int64_t perInput = test.depthwise ? p.out_c / p.in_c : 1;
  const int64_t firstC = test.depthwise ? oc / perInput : 0;
  const int64_t lastC = test.depthwise ? firstC : p.in_c - 1;
  for (int64_t ky = 0; ky < p.kernel_h; ++ky)
    for (int64_t kx = 0; kx < p.kernel_w; ++kx) {
      const int64_t y = oy * p.stride_h - p.pad_top + ky * p.dilation_h;
      const int64_t x = ox * p.stride_w - p.pad_left + kx * p.dilation_w;
      if (y < 0 || y >= p.in_h || x < 0 || x >= p.in_w)
        continue;
      for (int64_t ic = firstC; ic <= lastC; ++ic) {
        const int64_t weight = test.depthwise
                                   ? (ky * p.kernel_w + kx) * p.out_c + oc
                                   : ((oc * p.kernel_h + ky) * p.kernel_w + kx) * p.in_c + ic;
        visit(static_cast<size_t>(((image * p.in_h + y) * p.in_w + x) * p.in_c + ic),
              static_cast<size_t>(weight));
      }
    }
}

/// f32(acc) * multiplier, rounded twice as f32 arithmetic does; the product of two f32 is exact in
/// double.
float scaled(int64_t acc, float multiplier) {
  const float converted = static_cast<float>(static_cast<double>(acc));
  return static_cast<float>(static_cast<double>(converted) * static_cast<double>(multiplier));
}

} // namespace

void KernelTestCase::setGeometry(int padBottom, int padRight) {
  cq_conv2d_params &p = params;
  const int spanH = (p.kernel_h - 1) * p.dilation_h + 1;
  const int spanW = (p.kernel_w - 1) * p.dilation_w + 1;
  // A window larger than the padded image gets a larger image.
  p.in_h = std::max(p.in_h, spanH - p.pad_top - padBottom);
  p.in_w = std::max(p.in_w, spanW - p.pad_left - padRight);
  p.out_h = (p.in_h + p.pad_top + padBottom - spanH) / p.stride_h + 1;
  p.out_w = (p.in_w + p.pad_left + padRight - spanW) / p.stride_w + 1;
}

void KernelTestCase::fill(std::mt19937 &rng, bool extreme) {
  const cq_conv2d_params &p = params;
  const size_t outC = static_cast<size_t>(p.out_c);
  const size_t taps = static_cast<size_t>(p.kernel_h) * static_cast<size_t>(p.kernel_w);
  input.resize(static_cast<size_t>(p.batch) * static_cast<size_t>(p.in_h) *
               static_cast<size_t>(p.in_w) * static_cast<size_t>(p.in_c));
  weights.resize(taps * outC * (depthwise ? 1 : static_cast<size_t>(p.in_c)));
  for (int8_t &value : input)
    value = static_cast<int8_t>(extreme ? pick(rng, {-128, 127}) : uniform(rng, -128, 127));
  for (int8_t &value : weights)
    value = static_cast<int8_t>(extreme ? pick(rng, {-127, 127}) : uniform(rng, -127, 127));
  // Typical accumulators grow with the square root of the number of products; multipliers are such
  // that most results fall inside the i8 range, some on ties, and some far outside.
  const double products = static_cast<double>(weights.size()) / static_cast<double>(outC);
  const float typical = static_cast<float>(60.0 / (5400.0 * std::sqrt(products)));
  for (size_t c = 0; c < outC; ++c) {
    bias.push_back(uniform(rng, -20000, 20000));
    multiplier.push_back(
        pick(rng, {typical, typical * 0.37f, 0.5f, 0.0078125f, 1e30f, 0.0f, 3.1e-5f}));
    biasF32.push_back(std::uniform_real_distribution<float>(-2, 2)(rng));
  }
  std::normal_distribution<float> normal;
  for (size_t i = 0; i < input.size(); ++i)
    inputF32.push_back(normal(rng));
  for (size_t i = 0; i < weights.size(); ++i)
    weightsF32.push_back(normal(rng));
  auto cutOff = [](const std::vector<float> &values) {
    std::vector<uint16_t> result(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      uint32_t bits = 0;
      std::memcpy(&bits, &values[i], sizeof(bits));
      result[i] = static_cast<uint16_t>(bits >> 16);
    }
    return result;
  };
  inputBf16 = cutOff(inputF32);
  weightsBf16 = cutOff(weightsF32);
}

size_t KernelTestCase::outputSize() const {
  return static_cast<size_t>(params.batch) * static_cast<size_t>(params.out_h) *
         static_cast<size_t>(params.out_w) * static_cast<size_t>(params.out_c);
}

std::string KernelTestCase::describe() const {
  const cq_conv2d_params &p = params;
  std::ostringstream out;
  out << (depthwise ? "depthwise " : "conv2d ") << p.batch << "x" << p.in_h << "x" << p.in_w << "x"
      << p.in_c << " -> " << p.out_h << "x" << p.out_w << "x" << p.out_c << " kernel " << p.kernel_h
      << "x" << p.kernel_w << " stride " << p.stride_h << "," << p.stride_w << " dilation "
      << p.dilation_h << "," << p.dilation_w << " pad " << p.pad_top << "," << p.pad_left << " zp "
      << p.input_zp << "," << p.output_zp << " clamp " << p.clamp_min << ".." << p.clamp_max;
  return out.str();
}

int64_t KernelTestCase::accumulator(size_t index) const {
  int64_t acc = bias[index % static_cast<size_t>(params.out_c)];
  forEachTap(*this, index, [&](size_t i, size_t w) {
    acc += (static_cast<int64_t>(input[i]) - params.input_zp) * weights[w];
  });
  return acc;
}

std::vector<int8_t> KernelTestCase::referenceI8() const {
  std::vector<int8_t> output(outputSize());
  for (size_t i = 0; i < output.size(); ++i) {
    const float value = scaled(accumulator(i), multiplier[i % bias.size()]);
    const float low = static_cast<float>(params.clamp_min - params.output_zp);
    const float high = static_cast<float>(params.clamp_max - params.output_zp);
    const double rounded = std::nearbyint(static_cast<double>(std::clamp(value, low, high)));
    output[i] = static_cast<int8_t>(params.output_zp + static_cast<int>(rounded));
  }
  return output;
}

std::vector<float> KernelTestCase::referenceI8F32() const {
  std::vector<float> output(outputSize());
  for (size_t i = 0; i < output.size(); ++i)
    output[i] = std::clamp(scaled(accumulator(i), multiplier[i % bias.size()]),
                           params.clamp_min_f32, params.clamp_max_f32);
  return output;
}

void KernelTestCase::referenceF32(std::vector<double> &value,
                                  std::vector<double> &magnitude) const {
  value.resize(outputSize());
  magnitude.resize(outputSize());
  for (size_t i = 0; i < value.size(); ++i) {
    double sum = static_cast<double>(biasF32[i % biasF32.size()]);
    double absolute = std::fabs(sum);
    forEachTap(*this, i, [&](size_t x, size_t w) {
      const double product = static_cast<double>(inputF32[x]) * static_cast<double>(weightsF32[w]);
      sum += product;
      absolute += std::fabs(product);
    });
    value[i] = std::clamp(sum, static_cast<double>(params.clamp_min_f32),
                          static_cast<double>(params.clamp_max_f32));
    magnitude[i] = absolute;
  }
}

void KernelTestCase::referenceBf16(std::vector<float> &value,
                                   std::vector<double> &magnitude) const {
  value.resize(outputSize());
  magnitude.resize(outputSize());
  for (size_t i = 0; i < value.size(); ++i) {
    const float b = biasF32[i % biasF32.size()];
    float sum = 0;
    double absolute = std::fabs(static_cast<double>(b));
    forEachTap(*this, i, [&](size_t x, size_t w) {
      const float product = fromBf16(inputBf16[x]) * fromBf16(weightsBf16[w]); // exact
      sum += product;
      absolute += std::fabs(static_cast<double>(product));
    });
    sum += b;
    value[i] = std::isnan(sum) ? sum : std::clamp(sum, params.clamp_min_f32, params.clamp_max_f32);
    magnitude[i] = absolute;
  }
}

KernelTestCase KernelTestCase::withI4Weights() const {
  KernelTestCase test = *this;
  for (int8_t &weight : test.weights)
    weight = static_cast<int8_t>(weight >> 4);
  for (float &factor : test.multiplier)
    factor *= 16;
  return test;
}

float conquer::fromBf16(uint16_t value) {
  const uint32_t bits = static_cast<uint32_t>(value) << 16;
  float result = 0;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

float conquer::nearestBf16(float value) {
  if (value == 0 || std::isinf(value))
    return value;
  int exponent = 0;
  std::frexp(value, &exponent); // |value| is in [2^(exponent - 1), 2^exponent)
  const int place = std::max(exponent - 8, -133);
  const double rounded =
      std::ldexp(std::nearbyint(std::ldexp(static_cast<double>(value), -place)), place);
  return std::fabs(rounded) >= std::ldexp(1.0, 128)
             ? std::copysign(std::numeric_limits<float>::infinity(), value)
             : static_cast<float>(rounded);
}

KernelTestCase conquer::randomCase(std::mt19937 &rng, bool depthwise) {
  KernelTestCase test;
  test.depthwise = depthwise;
  cq_conv2d_params &p = test.params;
  p.batch = pick(rng, {1, 1, 2});
  p.in_h = uniform(rng, 1, 13);
  p.in_w = uniform(rng, 1, 17);
  p.in_c = pick(rng, {1, 2, 3, 4, 5, 8, 13, 16, 17, 20, 31, 32, 48, 63, 64, 67, 130});
  p.out_c = pick(rng, {1, 2, 3, 10, 15, 16, 17, 32, 33, 47, 48, 63, 64, 65, 80, 128, 131});
  if (depthwise)
    p.out_c = p.in_c * pick(rng, {1, 1, 1, 2, 3});
  p.kernel_h = pick(rng, {1, 1, 2, 3, 3, 3, 5, 7});
  p.kernel_w = pick(rng, {p.kernel_h, p.kernel_h, 1, 3, 4});
  p.stride_h = pick(rng, {1, 1, 2, 3});
  p.stride_w = pick(rng, {p.stride_h, p.stride_h, 1, 2});
  p.dilation_h = pick(rng, {1, 1, 1, 2, 3});
  p.dilation_w = pick(rng, {p.dilation_h, p.dilation_h, 1, 2});
  // Up to a whole window of padding, so that some windows see nothing but padding.
  p.pad_top = uniform(rng, 0, (p.kernel_h - 1) * p.dilation_h + 1);
  p.pad_left = uniform(rng, 0, (p.kernel_w - 1) * p.dilation_w + 1);
  test.setGeometry(uniform(rng, 0, p.kernel_h), uniform(rng, 0, p.kernel_w));
  p.input_zp = pick(rng, {-128, 127, 0, 17});
  p.output_zp = pick(rng, {-128, 127, 0, 17, -5});
  p.clamp_min = pick(rng, {-128, -128, p.output_zp, -100});
  p.clamp_max = pick(rng, {127, 127, std::max(p.clamp_min, 99), p.clamp_min});
  constexpr float infinity = std::numeric_limits<float>::infinity();
  p.clamp_min_f32 = pick(rng, {-infinity, 0.0f, -1.5f});
  p.clamp_max_f32 = pick(rng, {infinity, 6.0f, 0.25f});
  test.fill(rng, uniform(rng, 0, 3) == 0);
  return test;
}

bool conquer::cpuSupports(const cq_level &level) {
  std::ifstream file("/proc/cpuinfo");
  std::string line, flags;
  while (std::getline(file, line))
    if (line.rfind("flags", 0) == 0) {
      flags = line + " ";
      break;
    }
  for (const char *const *feature = level.features; *feature; ++feature)
    if (flags.find(" " + std::string(*feature) + " ") == std::string::npos)
      return false;
  return true;
}
