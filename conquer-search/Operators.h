//===- Operators.h - random numbers and the genetic operators ---------------------------------===//
//
// Selection, crossover and mutation on categorical genes. All randomness comes from the one engine
// that the caller passes; its distributions are our own, because those of the standard library
// differ from one implementation to the next.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SEARCH_OPERATORS_H
#define CONQUER_SEARCH_OPERATORS_H

#include "conquer-search/Genome.h"

#include <random>

namespace conquer {

/// A seeded source of random numbers: the same seed gives the same numbers everywhere (the Mersenne
/// twister's output is fixed by the C++ standard).
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  /// Uniform in [0, bound), without bias. `bound` is at least 1.
  uint64_t below(uint64_t bound);
  /// Uniform in [0, 1), a multiple of 2^-53.
  double unit();

private:
  std::mt19937_64 engine;
};

/// A genome with every gene uniform in its alphabet.
Genome randomGenome(Random &random, const std::vector<int> &alphabetSizes);

/// Binary tournament (Deb et al. 2002): two candidates drawn with replacement out of `rank.size()`
/// >= 1; the lower rank wins, then the larger crowding distance, then the lower index.
size_t binaryTournament(Random &random, const std::vector<size_t> &rank,
                        const std::vector<double> &crowding);

/// Each gene from either parent with equal chance.
Genome uniformCrossover(Random &random, const Genome &a, const Genome &b);

/// `a` with the genes between two random cuts taken from `b`. Neighbouring layers stay together,
/// which keeps conversions between precisions few.
Genome twoPointCrossover(Random &random, const Genome &a, const Genome &b);

/// Gives each gene another value of its alphabet with the given probability. Genes with a single
/// value stay.
void mutateGenes(Random &random, Genome &genome, const std::vector<int> &alphabetSizes,
                 double probability);

/// Sets a run of neighbouring genes (2 to a quarter of all, at least one gene) to the same random
/// place in their alphabets, the last place where the alphabet is shorter. A single layer often
/// does not pay for the two conversions around it; a run does.
void mutateRun(Random &random, Genome &genome, const std::vector<int> &alphabetSizes);

} // namespace conquer

#endif // CONQUER_SEARCH_OPERATORS_H
