//===- Surrogate.cpp - predictors that learn during the search --------------------------------===//

#include "conquer-search/Surrogate.h"

#include <cmath>

namespace conquer {

AccuracySurrogate::AccuracySurrogate(const SensitivityTable &table, const GenomeSpace &space) {
  for (size_t i = 0; i < space.numGenes(); ++i) {
    auto &row = terms.emplace_back();
    for (Precision precision : space.alphabet(i)) {
      const Sensitivity &entry = *table.layers[i][precisionIndex(precision)];
      // Without any error there is no drop, whether or not there were labels.
      hasDrops &= entry.accuracyDrop.has_value() || (entry.noise == 0 && entry.kl == 0) ||
                  precision == Precision::F32;
      row.push_back({entry.noise, entry.kl, entry.accuracyDrop.value_or(0)});
    }
  }
}

/// Prior, total noise, its square root and logarithm, total divergence.
std::vector<double> AccuracySurrogate::features(const Genome &genome) const {
  Term sum{0, 0, 0};
  for (size_t i = 0; i < genome.size(); ++i) {
    const Term &term = terms[i][genome[i]];
    sum.noise += term.noise;
    sum.kl += term.kl;
    sum.drop += term.drop;
  }
  return {hasDrops ? sum.drop : sum.kl, sum.noise, std::sqrt(sum.noise),
          std::log10(sum.noise + 1e-6), sum.kl};
}

void AccuracySurrogate::fit(const std::vector<Observation> &observations) {
  std::vector<RidgeSample> samples;
  for (const Observation &observation : observations) {
    std::vector<double> values = features(observation.genome);
    samples.push_back({values, values[0], observation.measured});
  }
  correction.fit(samples);
}

Estimate AccuracySurrogate::predict(const Genome &genome) const {
  std::vector<double> values = features(genome);
  return correction.predict(values, values[0], 0.5 * std::abs(values[0]) + 0.002);
}

} // namespace conquer
