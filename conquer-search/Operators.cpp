//===- Operators.cpp - random numbers and the genetic operators -------------------------------===//

#include "conquer-search/Operators.h"

#include <algorithm>

namespace conquer {

uint64_t Random::below(uint64_t bound) {
  // Numbers below 2^64 mod bound are drawn again, so that every remainder is equally likely.
  uint64_t threshold = -bound % bound;
  uint64_t draw;
  do
    draw = engine();
  while (draw < threshold);
  return draw % bound;
}

double Random::unit() { return static_cast<double>(engine() >> 11) * 0x1p-53; }

Genome randomGenome(Random &random, const std::vector<int> &alphabetSizes) {
  Genome genome;
  for (int size : alphabetSizes)
    genome.push_back(static_cast<uint8_t>(random.below(size)));
  return genome;
}

size_t binaryTournament(Random &random, const std::vector<size_t> &rank,
                        const std::vector<double> &crowding) {
  size_t a = random.below(rank.size()), b = random.below(rank.size());
  if (rank[a] != rank[b])
    return rank[a] < rank[b] ? a : b;
  if (crowding[a] != crowding[b])
    return crowding[a] > crowding[b] ? a : b;
  return std::min(a, b);
}

Genome uniformCrossover(Random &random, const Genome &a, const Genome &b) {
  Genome child = a;
  for (size_t i = 0; i < child.size(); ++i)
    if (random.below(2))
      child[i] = b[i];
  return child;
}

Genome twoPointCrossover(Random &random, const Genome &a, const Genome &b) {
  size_t first = random.below(a.size() + 1), last = random.below(a.size() + 1);
  if (first > last)
    std::swap(first, last);
  Genome child = a;
  std::copy(b.begin() + first, b.begin() + last, child.begin() + first);
  return child;
}

void mutateGenes(Random &random, Genome &genome, const std::vector<int> &alphabetSizes,
                 double probability) {
  for (size_t i = 0; i < genome.size(); ++i) {
    if (random.unit() >= probability || alphabetSizes[i] < 2)
      continue;
    auto other = static_cast<uint8_t>(random.below(alphabetSizes[i] - 1));
    genome[i] = other < genome[i] ? other : other + 1;
  }
}

void mutateRun(Random &random, Genome &genome, const std::vector<int> &alphabetSizes) {
  size_t longest = std::max<size_t>(2, genome.size() / 4);
  size_t length = std::min<size_t>(genome.size(), 2 + random.below(longest - 1));
  size_t start = random.below(genome.size() - length + 1);
  int largest = *std::max_element(alphabetSizes.begin(), alphabetSizes.end());
  auto place = static_cast<int>(random.below(largest));
  for (size_t i = start; i < start + length; ++i)
    genome[i] = static_cast<uint8_t>(std::min(place, alphabetSizes[i] - 1));
}

} // namespace conquer
