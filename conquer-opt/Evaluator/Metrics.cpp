//===- Metrics.cpp - how far one set of outputs is from another -------------------------------===//

#include "conquer-opt/Evaluator/Metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace conquer;

int64_t conquer::topOf(const float *values, int64_t width) {
  return std::max_element(values, values + width) - values;
}

namespace {

/// log of the sum of exponentials.
double logSum(const float *values, int64_t width) {
  double largest = *std::max_element(values, values + width), sum = 0;
  for (int64_t i = 0; i < width; ++i)
    sum += std::exp(values[i] - largest);
  return largest + std::log(sum);
}

} // namespace

ImageError conquer::compareImage(const float *reference, const float *other, int64_t width) {
  ImageError result;
  for (int64_t i = 0; i < width; ++i) {
    double difference = double(reference[i]) - other[i];
    result.signal += double(reference[i]) * reference[i];
    result.noise += difference * difference;
  }
  if (!std::isfinite(result.noise)) {
    result.noise = std::numeric_limits<double>::infinity();
    result.kl = 1000;
    result.top = -1;
    result.referenceTop = topOf(reference, width);
    return result;
  }
  double shiftReference = logSum(reference, width), shiftOther = logSum(other, width);
  for (int64_t i = 0; i < width; ++i) {
    double p = reference[i] - shiftReference, q = other[i] - shiftOther;
    result.kl += std::exp(p) * (p - q);
  }
  result.kl = std::max(result.kl, 0.0);
  result.top = topOf(other, width);
  result.referenceTop = topOf(reference, width);
  return result;
}

Comparison conquer::summarize(const std::vector<ImageError> &images) {
  Comparison result;
  result.images = static_cast<int64_t>(images.size());
  if (images.empty())
    return result;
  double signal = 0, noise = 0, kl = 0;
  int64_t agreeing = 0;
  for (const ImageError &image : images) {
    signal += image.signal;
    noise += image.noise;
    kl += image.kl;
    agreeing += image.top == image.referenceTop;
  }
  double ratio = noise == 0 ? 200 : signal == 0 ? -200 : 10 * std::log10(signal / noise);
  result.sqnrDb = std::clamp(ratio, -200.0, 200.0);
  result.kl = std::min(kl / images.size(), 1000.0);
  result.agreement = double(agreeing) / images.size();
  return result;
}

std::string conquer::correctness(const std::vector<int64_t> &tops,
                                 const std::vector<int64_t> &labels) {
  std::string text(tops.size(), '0');
  for (size_t i = 0; i < tops.size(); ++i)
    if (tops[i] == labels[i])
      text[i] = '1';
  return text;
}
