//===- RangeEstimator.h - from observed elements to ranges ------------------------------------===//
//
// Statistics of one activation tensor and the ways to choose the range that i8 codes span.
// Statistics are extremes and counts, so merging them in any order gives the same result: ranges do
// not depend on threads or batches.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_CALIBRATION_RANGEESTIMATOR_H
#define CONQUER_OPT_CALIBRATION_RANGEESTIMATOR_H

#include "conquer-opt/Calibration/CalibrationFile.h"
#include "support/Error.h"

#include <optional>
#include <string_view>
#include <vector>

namespace conquer {

/// How ranges are chosen.
enum class RangeMethod {
  MinMax,     ///< the extremes seen
  Percentile, ///< a share of the elements, as much cut below as above
  Mse,        ///< the range whose i8 codes have the least mean squared error
};

/// "minmax", "percentile", "mse".
std::optional<RangeMethod> parseRangeMethod(std::string_view name);

/// Smallest and largest element.
struct Extremes {
  float min = 0, max = 0;
  bool any = false;   ///< whether an element was seen
  bool finite = true; ///< whether all elements were finite

  void add(const float *values, int64_t count);
  void merge(const Extremes &other);
};

/// Counts of elements in equal bins between fixed bounds (found by a first pass over the samples).
class Histogram {
public:
  static constexpr int numBins = 2048;

  Histogram() = default;
  /// Bins over [extremes.min, extremes.max]; one bin's worth if they are equal.
  explicit Histogram(const Extremes &extremes);
  void add(const float *values, int64_t count);
  void merge(const Histogram &other);

  double lower() const { return low; }
  double width() const { return binWidth; }
  const std::vector<uint64_t> &counts() const { return bins; }
  uint64_t total() const;

private:
  double low = 0, binWidth = 0;
  float scale = 0; ///< bins per unit
  std::vector<uint64_t> bins;
};

/// The whole range seen, widened to hold zero. Never seen or all zero: 0..0.
Range minMaxRange(const Extremes &extremes);

/// The range that `percentile` percent (over 50, up to 100) of the elements lie in, half of the
/// rest cut from each end; linear within bins, widened to hold zero, never beyond the extremes.
Range percentileRange(const Extremes &extremes, const Histogram &histogram, double percentile);

/// The range with the least squared error of affine i8 quantisation (256 codes, zero exactly
/// representable) on the histogram, searched by shrinking one end at a time in steps of 1 % until
/// neither improves. An end at zero (after ReLU) stays there.
Range mseRange(const Extremes &extremes, const Histogram &histogram);

} // namespace conquer

#endif // CONQUER_OPT_CALIBRATION_RANGEESTIMATOR_H
