//===- Statistics.h - how good predictions were -----------------------------------------------===//
#ifndef CONQUER_SEARCH_STATISTICS_H
#define CONQUER_SEARCH_STATISTICS_H

#include <optional>
#include <vector>

namespace conquer {

/// Spearman's rank correlation of two equally long series, -1 to 1: Pearson's correlation of the
/// ranks, equal values sharing their mean rank. Nothing for fewer than two values or if one series
/// is constant. O(n log n).
std::optional<double> rankCorrelation(const std::vector<double> &a, const std::vector<double> &b);

/// Mean of |a - b|; nothing for empty series.
std::optional<double> meanAbsoluteError(const std::vector<double> &a, const std::vector<double> &b);

} // namespace conquer

#endif // CONQUER_SEARCH_STATISTICS_H
