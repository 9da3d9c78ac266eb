//===- Ridge.cpp - a learned correction of a prior prediction ---------------------------------===//

#include "conquer-search/Ridge.h"

#include <Eigen/Dense>

#include <cmath>
#include <limits>

namespace conquer {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// A ridge fit of centred data and its leave-one-out error.
struct Fit {
  VectorXd weights;
  MatrixXd inverse;
  double looError;
};

Fit fitRidge(const MatrixXd &x, const VectorXd &y, double penalty) {
  Fit fit;
  MatrixXd gram = x.transpose() * x;
  gram.diagonal().array() += penalty;
  fit.inverse = gram.llt().solve(MatrixXd::Identity(x.cols(), x.cols()));
  fit.weights = fit.inverse * (x.transpose() * y);
  VectorXd residual = y - x * fit.weights;
  double n = static_cast<double>(x.rows()), sum = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    // The intercept is the mean of y, so it adds 1/n to the leverage.
    double leverage = 1 / n + x.row(i).dot(fit.inverse * x.row(i).transpose());
    double error = residual(i) / std::max(1 - leverage, 1e-6);
    sum += error * error;
  }
  fit.looError = std::sqrt(sum / n);
  return fit;
}

} // namespace

void RidgeCorrection::fit(const std::vector<RidgeSample> &samples) {
  fitted = samples.size() >= minSamples;
  if (!fitted)
    return;
  count = samples.size();
  Eigen::Index n = count, p = samples[0].features.size();
  MatrixXd x(n, p);
  VectorXd y(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < p; ++j)
      x(i, j) = samples[i].features[j];
    y(i) = samples[i].measured - samples[i].prior;
  }
  center.assign(p, 0);
  scale.assign(p, 0);
  for (Eigen::Index j = 0; j < p; ++j) {
    center[j] = x.col(j).mean();
    x.col(j).array() -= center[j];
    double deviation = std::sqrt(x.col(j).squaredNorm() / static_cast<double>(n));
    // A feature that never varied (but for rounding) explains nothing.
    scale[j] = deviation > 1e-12 * std::abs(center[j]) ? 1 / deviation : 0;
    x.col(j) *= scale[j];
  }
  intercept = y.mean();
  y.array() -= intercept;
  double best = std::numeric_limits<double>::infinity();
  // From strong to weak, so that a tie goes to the stronger penalty.
  for (double penalty : {1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3}) {
    Fit candidate = fitRidge(x, y, penalty * static_cast<double>(n));
    if (!(candidate.looError < best))
      continue;
    best = candidate.looError;
    looError = candidate.looError;
    weights.assign(candidate.weights.data(), candidate.weights.data() + p);
    inverse.assign(candidate.inverse.data(), candidate.inverse.data() + p * p);
  }
  fitted = std::isfinite(best); // squares of huge values are not
}

Estimate RidgeCorrection::predict(const std::vector<double> &features, double prior,
                                  double priorDeviation) const {
  if (!fitted)
    return {prior, priorDeviation};
  size_t p = center.size();
  std::vector<double> x(p);
  double mean = prior + intercept, leverage = 1 / static_cast<double>(count);
  for (size_t j = 0; j < p; ++j) {
    x[j] = (features[j] - center[j]) * scale[j];
    mean += weights[j] * x[j];
  }
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j)
      leverage += x[i] * inverse[i * p + j] * x[j];
  return {mean, looError * std::sqrt(1 + leverage)};
}

} // namespace conquer
