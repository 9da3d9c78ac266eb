//===- RangeEstimator.cpp - from observed elements to ranges ----------------------------------===//

#include "conquer-opt/Calibration/RangeEstimator.h"

#include <algorithm>
#include <cmath>

using namespace conquer;

std::optional<RangeMethod> conquer::parseRangeMethod(std::string_view name) {
  if (name == "minmax")
    return RangeMethod::MinMax;
  if (name == "percentile")
    return RangeMethod::Percentile;
  if (name == "mse")
    return RangeMethod::Mse;
  return std::nullopt;
}

void Extremes::add(const float *values, int64_t count) {
  if (count == 0)
    return;
  float smallest = any ? min : values[0], largest = any ? max : values[0];
  // x - x is 0 for finite x and NaN else; a sum of zeros stays 0. Several lanes, so that it
  // vectorises.
  constexpr int lanes = 16;
  float low[lanes], high[lanes], odd[lanes] = {};
  std::fill(low, low + lanes, smallest);
  std::fill(high, high + lanes, largest);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int k = 0; k < lanes; ++k) {
      float x = values[i + k];
      low[k] = x < low[k] ? x : low[k];
      high[k] = x > high[k] ? x : high[k];
      odd[k] += x - x;
    }
  for (; i < count; ++i) {
    float x = values[i];
    low[0] = x < low[0] ? x : low[0];
    high[0] = x > high[0] ? x : high[0];
    odd[0] += x - x;
  }
  for (int k = 0; k < lanes; ++k)
    finite = finite && odd[k] == 0;
  min = *std::min_element(low, low + lanes);
  max = *std::max_element(high, high + lanes);
  any = true;
}

void Extremes::merge(const Extremes &other) {
  if (!other.any)
    return;
  min = any ? std::min(min, other.min) : other.min;
  max = any ? std::max(max, other.max) : other.max;
  any = true;
  finite = finite && other.finite;
}

Histogram::Histogram(const Extremes &extremes)
    : low(extremes.min), binWidth((double(extremes.max) - extremes.min) / numBins), bins(numBins) {
  double perUnit = binWidth > 0 ? 1 / binWidth : 0;
  scale = std::isfinite(static_cast<float>(perUnit)) ? static_cast<float>(perUnit) : 0;
}

void Histogram::add(const float *values, int64_t count) {
  auto start = static_cast<float>(low);
  for (int64_t i = 0; i < count; ++i) {
    float at = (values[i] - start) * scale;
    // Rounding may reach the upper end; NaN and what lies outside goes to an end bin.
    auto bin = static_cast<int>(at > 0 ? (at < numBins - 1 ? at : float(numBins - 1)) : 0.0f);
    ++bins[bin];
  }
}

void Histogram::merge(const Histogram &other) {
  for (size_t i = 0; i < bins.size(); ++i)
    bins[i] += other.bins[i];
}

uint64_t Histogram::total() const {
  uint64_t sum = 0;
  for (uint64_t count : bins)
    sum += count;
  return sum;
}

Range conquer::minMaxRange(const Extremes &extremes) {
  return {std::min<double>(extremes.min, 0), std::max<double>(extremes.max, 0), extremes.min,
          extremes.max};
}

namespace {

/// The value below which `share` of the elements lie.
double quantile(const Histogram &histogram, double share) {
  double wanted = share * static_cast<double>(histogram.total()), before = 0;
  const std::vector<uint64_t> &bins = histogram.counts();
  for (size_t i = 0; i < bins.size(); ++i) {
    auto count = static_cast<double>(bins[i]);
    if (count > 0 && before + count >= wanted)
      return histogram.lower() + histogram.width() * (i + (wanted - before) / count);
    before += count;
  }
  return histogram.lower() + histogram.width() * bins.size();
}

/// Squared error of the histogram's elements when codes -128..127 span [low, high].
double quantizationError(const Histogram &histogram, double low, double high) {
  double step = (high - low) / 255;
  if (step <= 0)
    return INFINITY;
  double zero = std::clamp(std::nearbyint(-128 - low / step), -128.0, 127.0), error = 0;
  const std::vector<uint64_t> &bins = histogram.counts();
  for (size_t i = 0; i < bins.size(); ++i) {
    if (bins[i] == 0)
      continue;
    double x = histogram.lower() + histogram.width() * (i + 0.5);
    double code = std::clamp(std::nearbyint(x / step) + zero, -128.0, 127.0);
    double difference = x - (code - zero) * step;
    error += static_cast<double>(bins[i]) * difference * difference;
  }
  return error;
}

} // namespace

Range conquer::percentileRange(const Extremes &extremes, const Histogram &histogram,
                               double percentile) {
  Range range = minMaxRange(extremes);
  if (histogram.total() == 0 || histogram.width() == 0)
    return range;
  double cut = (1 - percentile / 100) / 2;
  range.min = std::min(0.0, std::max(range.min, quantile(histogram, cut)));
  range.max = std::max(0.0, std::min(range.max, quantile(histogram, 1 - cut)));
  return range;
}

Range conquer::mseRange(const Extremes &extremes, const Histogram &histogram) {
  Range range = minMaxRange(extremes);
  if (histogram.total() == 0 || histogram.width() == 0)
    return range;
  const Range whole = range;
  double best = quantizationError(histogram, range.min, range.max);
  // Every round either lowers the error or is the last; eight are more than any tensor needed.
  for (int round = 0; round < 8; ++round) {
    bool improved = false;
    for (int percent = 99; percent >= 5; --percent) {
      double high = whole.max * percent / 100;
      double error = quantizationError(histogram, range.min, high);
      if (error < best && high != range.max) {
        best = error, range.max = high;
        improved = true;
      }
    }
    for (int percent = 99; percent >= 5 && whole.min < 0; --percent) {
      double low = whole.min * percent / 100;
      double error = quantizationError(histogram, low, range.max);
      if (error < best && low != range.min) {
        best = error, range.min = low;
        improved = true;
      }
    }
    if (!improved)
      break;
  }
  return range;
}
