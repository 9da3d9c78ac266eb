//===- CostModel.h - latency and size of a genome ---------------------------------------------===//
//
// Latency: the measured times of the layers and of the conversions that the genome makes necessary,
// corrected by what whole modules took. Size: bytes of the weights, corrected the same way.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SEARCH_COSTMODEL_H
#define CONQUER_SEARCH_COSTMODEL_H

#include "conquer-search/Surrogate.h"

namespace conquer {

/// Latency in milliseconds. The correction is a ridge on the table's sum, the number of conversions
/// and the number of i8 layers (w4a8 included); before enough is told the deviation is a tenth of
/// the sum.
class LatencyModel final : public Surrogate {
public:
  /// What a genome costs by the table alone.
  struct TableCost {
    double milliseconds; ///< layers and conversions
    int conversions;     ///< number of conversions
  };

  /// Errors: the table lacks a layer's signature in a precision of its alphabet, or a conversion
  /// that some genome needs (directly or by way of f32).
  static Result<LatencyModel> create(const Network &network, const LatencyTable &table,
                                     const GenomeSpace &space);

  /// Sum of the layers and conversions. A network input or output is f32, and an integer layer
  /// without an integer reader writes f32. A value is converted once per form that its readers need
  /// (the largest tensor counts, if the readers see different sizes), to several forms by way of
  /// one f32. O(layers + edges).
  TableCost tableCost(const Genome &genome) const;
  void fit(const std::vector<Observation> &observations) override;
  Estimate predict(const Genome &genome) const override;

private:
  struct Reader {
    int layer; ///< -1: a network output
    int64_t elements;
  };
  struct Source {
    int layer = -1; ///< -1: a network input
    std::vector<Reader> readers;
  };

  LatencyModel(const LatencyTable &table, const GenomeSpace &space) : table(table), space(space) {}
  Precision formOf(const Genome &genome, int layer) const;
  /// Elements needed of each form, 0 for a form that nobody reads.
  using FormSizes = std::array<int64_t, numPrecisions>;
  void addConversions(Precision from, const FormSizes &sizes, TableCost &cost) const;
  Status checkConversions() const;
  std::vector<double> features(const Genome &genome) const;

  LatencyTable table;
  GenomeSpace space;
  std::vector<std::vector<double>> layerMs; ///< by gene and its value
  std::vector<Source> sources;
  RidgeCorrection correction;
};

/// Time of one conversion in milliseconds; nothing if the table does not have it. Between two
/// measured sizes it is interpolated, outside of them the nearest one is scaled in proportion to
/// the elements. A pair that was not measured goes by way of f32.
std::optional<double> conversionMs(const LatencyTable &table, Precision from, Precision to,
                                   int64_t elements);

/// Size in bytes: weights times bytes per weight. The correction (constants, code, packing) is a
/// ridge on the sum.
class SizeModel final : public Surrogate {
public:
  SizeModel(const Network &network, const GenomeSpace &space);
  /// Bytes of the weights alone, rounded up per layer.
  double weightBytes(const Genome &genome) const;
  void fit(const std::vector<Observation> &observations) override;
  Estimate predict(const Genome &genome) const override;

private:
  std::vector<std::vector<double>> bytes; ///< by gene and its value
  RidgeCorrection correction;
};

} // namespace conquer

#endif // CONQUER_SEARCH_COSTMODEL_H
