//===- Metrics.h - how far one set of outputs is from another ---------------------------------===//
//
// Plain functions on the network's first output, [images][width], f32.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_METRICS_H
#define CONQUER_OPT_EVALUATOR_METRICS_H

#include <cstdint>
#include <string>
#include <vector>

namespace conquer {

/// What is compared per image; sums are taken in image order, so that they do not depend on
/// threads.
struct ImageError {
  double signal = 0;                 ///< sum of squares of the reference
  double noise = 0;                  ///< sum of squares of the difference
  double kl = 0;                     ///< KL(softmax(reference) || softmax(other)), nat
  int64_t top = 0, referenceTop = 0; ///< index of the largest element, the first of equals
};

/// Compares one image's outputs. Elements that are not finite count as no agreement: noise becomes
/// infinite.
ImageError compareImage(const float *reference, const float *other, int64_t width);

/// Index of the first largest element.
int64_t topOf(const float *values, int64_t width);

/// Figures over all images.
struct Comparison {
  int64_t images = 0;
  double sqnrDb = 0;    ///< 10 log10(signal / noise), at most 200, at least -200
  double kl = 0;        ///< mean, nat, at most 1000
  double agreement = 0; ///< share of images with equal top index
};
Comparison summarize(const std::vector<ImageError> &images);

/// "0110": whether the top index is the label, per image.
std::string correctness(const std::vector<int64_t> &tops, const std::vector<int64_t> &labels);

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_METRICS_H
