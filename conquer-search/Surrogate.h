//===- Surrogate.h - predictors that learn during the search ----------------------------------===//
//
// The interface of all surrogates, and the one for accuracy.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SEARCH_SURROGATE_H
#define CONQUER_SEARCH_SURROGATE_H

#include "conquer-search/Problem.h"
#include "conquer-search/Ridge.h"

namespace conquer {

/// One genome and what was measured for it.
struct Observation {
  Genome genome;
  double measured;
};

/// Predicts one objective of a genome. Predictions depend on the last fit only.
class Surrogate {
public:
  virtual ~Surrogate() = default;
  /// Learns from all observations so far; replaces what it learnt before. Values must be finite.
  virtual void fit(const std::vector<Observation> &observations) = 0;
  /// Mean and standard deviation in the objective's unit.
  virtual Estimate predict(const Genome &genome) const = 0;
};

/// Accuracy loss from per-layer sensitivities. Noise-to-signal ratios, divergences and drops of the
/// layers add (errors of layers that do not know of each other); the prior is the sum of the
/// layers' drops where labels were given, else of their divergences. The correction is a ridge on
/// the prior, the total noise, its square root (errors that add coherently), its logarithm and the
/// total divergence. Before enough is told the deviation is half the prior + 0.002.
class AccuracySurrogate final : public Surrogate {
public:
  /// `space` has the layers of `table`.
  AccuracySurrogate(const SensitivityTable &table, const GenomeSpace &space);
  void fit(const std::vector<Observation> &observations) override;
  Estimate predict(const Genome &genome) const override;

private:
  struct Term {
    double noise, kl, drop;
  };
  std::vector<double> features(const Genome &genome) const;

  std::vector<std::vector<Term>> terms; ///< by gene and its value
  bool hasDrops = true;
  RidgeCorrection correction;
};

} // namespace conquer

#endif // CONQUER_SEARCH_SURROGATE_H
