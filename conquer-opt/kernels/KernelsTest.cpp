//===- KernelsTest.cpp - every kernel of every level against the plain reference --------------===//
#include "conquer-opt/kernels/KernelTestCase.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

using namespace conquer;

namespace {

class Kernels : public testing::TestWithParam<const cq_level *> {
protected:
  void SetUp() override {
    if (!cpuSupports(level()))
      GTEST_SKIP() << "this CPU cannot run the level " << level().name;
  }
  const cq_level &level() const { return *GetParam(); }
};

/// Runs every workgroup on buffers filled with two different patterns: what is equal in both was
/// written. Fails unless every element is written by exactly one workgroup.
template <typename T>
std::vector<T> runSplit(const std::function<void(T *, size_t, size_t)> &kernel, size_t size,
                        size_t count) {
  std::vector<T> result(size);
  std::vector<int> writers(size);
  for (size_t workgroup = 0; workgroup < count; ++workgroup) {
    std::vector<T> first(size), second(size);
    std::memset(first.data(), 0x55, size * sizeof(T));
    std::memset(second.data(), 0x2a, size * sizeof(T));
    kernel(first.data(), workgroup, count);
    kernel(second.data(), workgroup, count);
    for (size_t i = 0; i < size; ++i)
      if (std::memcmp(&first[i], &second[i], sizeof(T)) == 0) {
        result[i] = first[i];
        ++writers[i];
      }
  }
  for (size_t i = 0; i < size; ++i)
    if (writers[i] != 1) {
      ADD_FAILURE() << "element " << i << " is written by " << writers[i] << " of " << count
                    << " workgroups";
      break;
    }
  return result;
}

/// The first index where the two differ, or -1.
template <typename T> int64_t firstMismatch(const std::vector<T> &a, const std::vector<T> &b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0 && a[i] != b[i])
      return static_cast<int64_t>(i);
  return -1;
}

void checkInteger(const cq_integer_kernels &kernels, const KernelTestCase &test,
                  size_t workgroups) {
  const cq_conv2d_params *p = &test.params;
  std::vector<int8_t> weights(kernels.size(p));
  std::vector<int32_t> bias(test.bias.size());
  kernels.pack(test.weights.data(), test.bias.data(), p, weights.data(), bias.data());
  const std::function<void(int8_t *, size_t, size_t)> toI8 = [&](int8_t *output, size_t workgroup,
                                                                 size_t count) {
    kernels.to_i8(test.input.data(), weights.data(), bias.data(), test.multiplier.data(), p, output,
                  workgroup, count);
  };
  EXPECT_EQ(firstMismatch(runSplit(toI8, test.outputSize(), workgroups), test.referenceI8()), -1);
  const std::function<void(float *, size_t, size_t)> toF32 = [&](float *output, size_t workgroup,
                                                                 size_t count) {
    kernels.to_f32(test.input.data(), weights.data(), bias.data(), test.multiplier.data(), p,
                   output, workgroup, count);
  };
  EXPECT_EQ(firstMismatch(runSplit(toF32, test.outputSize(), workgroups), test.referenceI8F32()),
            -1);
}

/// The convolution with i8 weights, and the same with i4 weights.
void checkIntegers(const cq_level &level, const KernelTestCase &test, size_t workgroups) {
  SCOPED_TRACE(test.describe() + " workgroups " + std::to_string(workgroups));
  checkInteger(test.depthwise ? level.depthwise_i8 : level.conv2d_i8, test, workgroups);
  SCOPED_TRACE("with i4 weights");
  checkInteger(test.depthwise ? level.depthwise_w4a8 : level.conv2d_w4a8, test.withI4Weights(),
               workgroups);
}

void checkF32(const cq_level &level, const KernelTestCase &test, size_t workgroups) {
  SCOPED_TRACE(test.describe() + " workgroups " + std::to_string(workgroups));
  const cq_f32_kernels &kernels = test.depthwise ? level.depthwise_f32 : level.conv2d_f32;
  std::vector<float> weights(kernels.size(&test.params));
  kernels.pack(test.weightsF32.data(), &test.params, weights.data());
  const std::function<void(float *, size_t, size_t)> kernel = [&](float *output, size_t workgroup,
                                                                  size_t count) {
    kernels.run(test.inputF32.data(), weights.data(), test.biasF32.data(), &test.params, output,
                workgroup, count);
  };
  const std::vector<float> output = runSplit(kernel, test.outputSize(), workgroups);
  std::vector<double> value, magnitude;
  test.referenceF32(value, magnitude);
  for (size_t i = 0; i < output.size(); ++i)
    ASSERT_NEAR(static_cast<double>(output[i]), value[i], 1e-6 * magnitude[i] + 1e-6) << i;
}

/// vdpbf16ps sums in another order than the definition.
bool sumsInOrder(const cq_level &level, const KernelTestCase &test) {
  return test.depthwise || std::string(level.name) != "avx512bf16";
}

std::vector<uint16_t> runBf16(const cq_level &level, const KernelTestCase &test,
                              size_t workgroups) {
  const cq_bf16_kernels &kernels = test.depthwise ? level.depthwise_bf16 : level.conv2d_bf16;
  std::vector<uint16_t> weights(kernels.size(&test.params));
  kernels.pack(test.weightsBf16.data(), &test.params, weights.data());
  const std::function<void(uint16_t *, size_t, size_t)> kernel =
      [&](uint16_t *output, size_t workgroup, size_t count) {
        kernels.run(test.inputBf16.data(), weights.data(), test.biasF32.data(), &test.params,
                    output, workgroup, count);
      };
  return runSplit(kernel, test.outputSize(), workgroups);
}

/// Bit for bit where the sum keeps its order; else within half a unit of the last place and what
/// the order may change. A NaN is a NaN anywhere.
void checkBf16(const cq_level &level, const KernelTestCase &test, size_t workgroups) {
  SCOPED_TRACE(test.describe() + " workgroups " + std::to_string(workgroups));
  const std::vector<uint16_t> output = runBf16(level, test, workgroups);
  std::vector<float> value;
  std::vector<double> magnitude;
  test.referenceBf16(value, magnitude);
  for (size_t i = 0; i < output.size(); ++i) {
    const float got = fromBf16(output[i]);
    if (std::isnan(value[i]) || std::isinf(value[i]))
      ASSERT_TRUE(std::isnan(value[i]) ? std::isnan(got) : got == value[i]) << i << " " << got;
    else if (sumsInOrder(level, test))
      ASSERT_EQ(got, nearestBf16(value[i])) << i;
    else
      ASSERT_NEAR(got, value[i], std::fabs(value[i]) / 256 + 1e-6 * magnitude[i] + 1e-30) << i;
  }
}

/// A 1-image conv2d with the identity quantisation; tests change what they are about.
KernelTestCase plainCase(int size, int inC, int outC, int kernel, int pad) {
  KernelTestCase test;
  test.params = {1, size, size, inC, 0, 0, outC, kernel, kernel,    1,       1,
                 1, 1,    pad,  pad, 0, 0, -128, 127,    -INFINITY, INFINITY};
  test.setGeometry(pad, pad);
  return test;
}

} // namespace

TEST(KernelTable, LevelsAreNamedAndFound) {
  ASSERT_NE(cq_levels()[0], nullptr);
  EXPECT_STREQ(cq_levels()[0]->name, "portable");
  EXPECT_EQ(cq_levels()[0]->features[0], nullptr);
  for (const cq_level *const *level = cq_levels(); *level; ++level)
    EXPECT_EQ(cq_find_level((*level)->name), *level);
  EXPECT_EQ(cq_find_level("none"), nullptr);
  // A module passes the parameters as a constant tensor of 21 i32.
  EXPECT_EQ(sizeof(cq_conv2d_params), 21 * sizeof(int32_t));
}

TEST_P(Kernels, RandomConv2dInteger) {
  std::mt19937 rng(1);
  for (int i = 0; i < 250 && !HasFailure(); ++i)
    checkIntegers(level(), randomCase(rng, /*depthwise=*/false),
                  std::vector<size_t>{1, 2, 3, 7}[i % 4]);
}

TEST_P(Kernels, RandomDepthwiseInteger) {
  std::mt19937 rng(2);
  for (int i = 0; i < 250 && !HasFailure(); ++i)
    checkIntegers(level(), randomCase(rng, /*depthwise=*/true),
                  std::vector<size_t>{1, 2, 3, 7}[i % 4]);
}

TEST_P(Kernels, RandomConv2dF32) {
  std::mt19937 rng(3);
  for (int i = 0; i < 150 && !HasFailure(); ++i)
    checkF32(level(), randomCase(rng, /*depthwise=*/false), std::vector<size_t>{1, 2, 3, 7}[i % 4]);
}

TEST_P(Kernels, RandomDepthwiseF32) {
  std::mt19937 rng(4);
  for (int i = 0; i < 150 && !HasFailure(); ++i)
    checkF32(level(), randomCase(rng, /*depthwise=*/true), std::vector<size_t>{1, 2, 3, 7}[i % 4]);
}

TEST_P(Kernels, RandomConv2dBf16) {
  std::mt19937 rng(10);
  for (int i = 0; i < 150 && !HasFailure(); ++i)
    checkBf16(level(), randomCase(rng, /*depthwise=*/false),
              std::vector<size_t>{1, 2, 3, 7}[i % 4]);
}

TEST_P(Kernels, RandomDepthwiseBf16) {
  std::mt19937 rng(11);
  for (int i = 0; i < 150 && !HasFailure(); ++i)
    checkBf16(level(), randomCase(rng, /*depthwise=*/true), std::vector<size_t>{1, 2, 3, 7}[i % 4]);
}

// One value in ten is an infinity, a NaN or huge: only the windows that see it may change.
TEST_P(Kernels, Bf16NumbersThatAreNotFinite) {
  std::mt19937 rng(12);
  const uint16_t special[] = {0x7f80, 0xff80, 0x7fc0, 0xffa1, 0x7f7f, 0xff7f};
  for (int i = 0; i < 100 && !HasFailure(); ++i) {
    KernelTestCase test = randomCase(rng, i % 3 == 0);
    for (uint16_t &value : test.inputBf16)
      if (rng() % 10 == 0)
        value = special[rng() % 6];
    // FMA, or another order, may get round an overflow on the way.
    if (!test.depthwise && std::string(level().name).find("avx512") == 0)
      for (uint16_t &value : test.inputBf16)
        value = (value & 0x7fff) == 0x7f7f ? 0x7f80 : value;
    checkBf16(level(), test, 1);
  }
}

// One pixel of one channel times 1 plus the bias: every rounding that there is.
TEST_P(Kernels, Bf16RoundsToNearestEven) {
  const float biases[] = {0x1p-9f,        -0x1p-9f,     0x1.02p0f,   0x1.01p0f,      0x1.03p0f,
                          0x1.0100001p0f, -0x1.00ffp0f, 0x1.fep127f, 0x1.fefep127f,  0x1.ffp127f,
                          -0x1.ffp127f,   0x1p-133f,    0x1.8p-133f, 0x1p-134f,      0x1.8p-134f,
                          -0.0f,          0.0f,         3.14159265f, 0x1.fffffep127f};
  const int count = sizeof(biases) / sizeof(biases[0]);
  KernelTestCase test = plainCase(1, 2, count, 1, 0);
  std::mt19937 rng(13);
  test.fill(rng, false);
  test.params.clamp_min_f32 = -std::numeric_limits<float>::infinity();
  test.params.clamp_max_f32 = std::numeric_limits<float>::infinity();
  std::fill(test.inputBf16.begin(), test.inputBf16.end(), uint16_t(0));
  test.biasF32.assign(biases, biases + count);
  for (const bool depthwise : {false, true}) {
    test.depthwise = depthwise;
    if (depthwise) {
      test.params.in_c = test.params.out_c;
      test.inputBf16.assign(count, 0);
    }
    const std::vector<uint16_t> output = runBf16(level(), test, 1);
    for (int c = 0; c < count; ++c)
      EXPECT_EQ(fromBf16(output[c]), nearestBf16(biases[c])) << biases[c];
  }
}

// First layers, fully connected layers, and layers of usual networks, smaller where possible.
TEST_P(Kernels, UsualLayers) {
  std::mt19937 rng(5);
  const int shapes[][5] = {{29, 3, 64, 7, 3},   {28, 1, 32, 3, 1},    {14, 64, 64, 3, 1},
                           {7, 128, 192, 3, 1}, {1, 512, 1000, 1, 0}, {1, 2050, 10, 1, 0},
                           {14, 24, 144, 1, 0}, {9, 3, 24, 3, 1}};
  for (const auto &shape : shapes)
    for (const int stride : {1, 2}) {
      KernelTestCase test = plainCase(shape[0], shape[1], shape[2], shape[3], shape[4]);
      test.params.stride_h = test.params.stride_w = stride;
      test.params.input_zp = -128;
      test.setGeometry(shape[4], shape[4]);
      test.fill(rng, false);
      checkIntegers(level(), test, 2);
      checkF32(level(), test, 2);
      checkBf16(level(), test, 2);
    }
}

// Shapes that exceed the kernels' inner blocks: many taps, many channels.
TEST_P(Kernels, LargeWindows) {
  std::mt19937 rng(6);
  for (const auto &shape : {std::array<int, 4>{40, 3, 5, 37},
                            {24, 17, 18, 21},
                            {24, 40, 20, 21},
                            {1, 20001, 3, 1},
                            {2, 9003, 5, 3}}) {
    KernelTestCase test = plainCase(shape[0], shape[1], shape[2], shape[3], shape[3] == 1 ? 0 : 1);
    test.params.input_zp = 17;
    test.setGeometry(test.params.pad_top + 1, test.params.pad_left);
    test.fill(rng, false);
    checkIntegers(level(), test, 3);
    checkF32(level(), test, 3);
    checkBf16(level(), test, 3);
    test.depthwise = true;
    test.params.out_c = test.params.in_c;
    KernelTestCase depthwise;
    depthwise.depthwise = true;
    depthwise.params = test.params;
    depthwise.fill(rng, false);
    checkIntegers(level(), depthwise, 3);
    checkF32(level(), depthwise, 3);
    checkBf16(level(), depthwise, 3);
  }
}

// The largest sums that weights of -127..127 can make, both signs, all zero points.
TEST_P(Kernels, ExtremeAccumulators) {
  for (const int8_t code : {int8_t(-128), int8_t(127)})
    for (const int8_t weight : {int8_t(-127), int8_t(127)})
      for (const int zp : {-128, 127, 0, 17}) {
        KernelTestCase test = plainCase(4, 256, 70, 3, 1);
        std::mt19937 rng(7);
        test.params.input_zp = zp;
        test.params.output_zp = -zp / 2;
        test.fill(rng, true);
        std::fill(test.input.begin(), test.input.end(), code);
        std::fill(test.weights.begin(), test.weights.end(), weight);
        checkIntegers(level(), test, 1);
      }
}

// The most products that w4a8 kernels may sum before they shift, with the largest values, by rows
// of windows and, with one pixel more, by taps.
TEST_P(Kernels, ExtremeSumsOfI4Weights) {
  for (const int kernelW : {8, 9})
    for (const int8_t weight : {int8_t(-128), int8_t(127)}) {
      KernelTestCase test = plainCase(9, 1024, 5, 8, 0);
      std::mt19937 rng(14);
      test.params.kernel_w = kernelW;
      test.params.input_zp = -128;
      test.setGeometry(0, 0);
      test.fill(rng, true);
      std::fill(test.input.begin(), test.input.end(), int8_t(127));
      std::fill(test.weights.begin(), test.weights.end(), weight);
      SCOPED_TRACE(test.describe());
      checkInteger(level().conv2d_w4a8, test.withI4Weights(), 1);
    }
}

// Every accumulator from -600 to 600 times 0.5: each second one is a tie.
TEST_P(Kernels, TiesGoToEven) {
  for (const int outputZp : {-128, -1, 0, 1, 127}) {
    KernelTestCase test = plainCase(1, 4, 1201, 1, 0);
    std::mt19937 rng(8);
    test.params.output_zp = outputZp;
    test.fill(rng, false);
    std::fill(test.weights.begin(), test.weights.end(), int8_t(0));
    std::fill(test.multiplier.begin(), test.multiplier.end(), 0.5f);
    for (int c = 0; c < 1201; ++c)
      test.bias[static_cast<size_t>(c)] = c - 600;
    checkIntegers(level(), test, 2);
  }
}

// Huge values must saturate on the right side; the sum of a huge bias and its products wraps on the
// way but not in the end.
TEST_P(Kernels, HugeBiasAndMultiplier) {
  KernelTestCase test = plainCase(3, 64, 65, 3, 1);
  std::mt19937 rng(9);
  test.params.input_zp = 127;
  test.fill(rng, false);
  for (size_t c = 0; c < 65; ++c) {
    test.bias[c] = c % 2 ? 2130000000 : -2130000000;
    test.multiplier[c] = c % 3 ? 1e-7f : 3e38f;
  }
  checkIntegers(level(), test, 1);
}

INSTANTIATE_TEST_SUITE_P(Levels, Kernels, testing::ValuesIn([] {
                           std::vector<const cq_level *> levels;
                           for (const cq_level *const *level = cq_levels(); *level; ++level)
                             levels.push_back(*level);
                           return levels;
                         }()),
                         [](const testing::TestParamInfo<const cq_level *> &info) {
                           return std::string(info.param->name);
                         });
