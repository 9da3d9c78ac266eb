//===- Statistics.cpp - how good predictions were ---------------------------------------------===//

#include "conquer-search/Statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace conquer {

namespace {

/// The rank of each value, from 0; equal values share their mean rank.
std::vector<double> ranks(const std::vector<double> &values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]])
      ++end;
    for (size_t j = i; j < end; ++j)
      result[order[j]] = 0.5 * static_cast<double>(i + end - 1);
    i = end;
  }
  return result;
}

} // namespace

std::optional<double> rankCorrelation(const std::vector<double> &a, const std::vector<double> &b) {
  std::vector<double> x = ranks(a), y = ranks(b);
  double middle = 0.5 * (static_cast<double>(x.size()) - 1), xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - middle) * (y[i] - middle);
    xx += (x[i] - middle) * (x[i] - middle);
    yy += (y[i] - middle) * (y[i] - middle);
  }
  if (xx == 0 || yy == 0)
    return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

std::optional<double> meanAbsoluteError(const std::vector<double> &a,
                                        const std::vector<double> &b) {
  if (a.empty())
    return std::nullopt;
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

} // namespace conquer
