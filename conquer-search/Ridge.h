//===- Ridge.h - a learned correction of a prior prediction -----------------------------------===//
//
// Ridge regression of what was measured minus what was predicted beforehand (the prior) on a few
// features: without data the prediction is the prior, with data it moves as far as the data
// support.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SEARCH_RIDGE_H
#define CONQUER_SEARCH_RIDGE_H

#include <cstddef>
#include <vector>

namespace conquer {

/// A prediction and its standard deviation, both in the unit of the predicted value.
struct Estimate {
  double mean = 0, deviation = 0;
};

/// What is known of one candidate.
struct RidgeSample {
  std::vector<double> features; ///< same length for all samples
  double prior;                 ///< prediction without data
  double measured;
};

class RidgeCorrection {
public:
  /// Samples below which the prior is used as it is.
  static constexpr std::size_t minSamples = 5;

  /// Fits residual = measured - prior by a linear function of the standardised features and an
  /// intercept that is not penalised. The penalty is the one of 1e-3, 1e-2, ... 1e3 (times the
  /// number of samples) with the least leave-one-out error, which a ridge has in closed form:
  /// residual_i / (1 - h_ii) (Golub, Heath, Wahba: "Generalized cross-validation", Technometrics
  /// 21(2), 1979). Replaces an earlier fit. O(n p^2 + p^3).
  void fit(const std::vector<RidgeSample> &samples);

  /// prior + correction. The deviation is the leave-one-out root mean square error, widened by the
  /// leverage of `features` (further from the data is less certain); before a fit it is
  /// `priorDeviation`.
  Estimate predict(const std::vector<double> &features, double prior, double priorDeviation) const;

private:
  bool fitted = false;
  double intercept = 0, looError = 0;
  std::size_t count = 0;
  std::vector<double> center, scale, weights;
  std::vector<double> inverse; ///< (X'X + penalty)^-1, row by row
};

} // namespace conquer

#endif // CONQUER_SEARCH_RIDGE_H
