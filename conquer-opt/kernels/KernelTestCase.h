//===- KernelTestCase.h - random convolutions and their plain reference -----------*- C++ -* --===//
//
// Shared by the kernel tests. The reference knows nothing of the kernels: it sums in 64 bits (or in
// double) straight from the definition in cq_kernels.h and rounds with the C++ library.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_KERNELS_KERNELTESTCASE_H
#define CONQUER_OPT_KERNELS_KERNELTESTCASE_H

#include "conquer-opt/kernels/cq_kernels.h"

#include <random>
#include <string>
#include <vector>

namespace conquer {

/// One convolution with its data. Vectors have exactly the size of the tensor, so that the address
/// sanitiser sees every access beside it.
struct KernelTestCase {
  cq_conv2d_params params = {};
  bool depthwise = false;
  std::vector<int8_t> input, weights; // weights as the pack functions take them
  std::vector<int32_t> bias;
  std::vector<float> multiplier;
  std::vector<float> inputF32, weightsF32, biasF32;
  std::vector<uint16_t> inputBf16, weightsBf16; // of the same numbers, cut off

  /// Derives the output size; padBottom and padRight may differ from the stored top and left.
  void setGeometry(int padBottom, int padRight);
  /// Fills all tensors; `extreme` takes codes and weights from the ends of their ranges.
  void fill(std::mt19937 &rng, bool extreme);
  size_t outputSize() const;
  std::string describe() const;

  /// The exact accumulator of output element `index`, as a 64-bit sum.
  int64_t accumulator(size_t index) const;
  std::vector<int8_t> referenceI8() const;
  std::vector<float> referenceI8F32() const;
  /// The f32 convolution in double, and the sum of the absolute products, to which the tolerance
  /// relates.
  void referenceF32(std::vector<double> &value, std::vector<double> &magnitude) const;
  /// The bf16 convolution as f32 arithmetic in the order ky, kx, ic, bias gives it, before rounding
  /// to bf16; and, again, the sum of the absolute products.
  void referenceBf16(std::vector<float> &value, std::vector<double> &magnitude) const;
  /// The same convolution with weights of -8..7.
  KernelTestCase withI4Weights() const;
};

/// A random geometry with odd sizes, strides, dilations and unequal pads, filled with data.
KernelTestCase randomCase(std::mt19937 &rng, bool depthwise);

float fromBf16(uint16_t value);
/// The bf16 nearest to an f32 that is no NaN, ties to even, by the C++ library's arithmetic.
float nearestBf16(float value);

/// Whether this CPU has all features of the level, by /proc/cpuinfo.
bool cpuSupports(const cq_level &level);

} // namespace conquer

#endif // CONQUER_OPT_KERNELS_KERNELTESTCASE_H
