//===- OperatorsTest.cpp - the operators stay in the alphabets --------------------------------===//

#include "conquer-search/Operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

using namespace conquer;

namespace {

TEST(Operators, RandomNumbersAreFixedByTheSeed) {
  // The 10000th output of std::mt19937_64 with its default seed is 9981545732273789042 (C++
  // standard, [rand.predef]).
  Random random(5489);
  for (int i = 0; i < 9999; ++i)
    random.unit();
  EXPECT_EQ(random.unit(), double(9981545732273789042u >> 11) * 0x1p-53);
  EXPECT_NE(Random(5489).unit(), Random(5490).unit());
}

TEST(Operators, BelowIsUniform) {
  Random random(1);
  std::vector<int> counts(7, 0);
  for (int i = 0; i < 70000; ++i)
    ++counts[random.below(7)];
  for (int count : counts)
    EXPECT_NEAR(count, 10000, 500);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(random.below(1), 0u);
    double unit = random.unit();
    EXPECT_TRUE(unit >= 0 && unit < 1);
  }
}

TEST(Operators, TournamentPrefersRankThenCrowdingThenOrder) {
  Random random(3);
  double inf = std::numeric_limits<double>::infinity();
  std::vector<int> wins(4, 0);
  for (int i = 0; i < 4000; ++i)
    ++wins[binaryTournament(random, {0, 0, 1, 1}, {0.5, inf, inf, inf})];
  // Out of 16 pairs: 1 wins 7, 0 wins 5, 2 wins 3, 3 wins 1.
  EXPECT_NEAR(wins[0], 1250, 150);
  EXPECT_NEAR(wins[1], 1750, 150);
  EXPECT_NEAR(wins[2], 750, 150);
  EXPECT_NEAR(wins[3], 250, 100);
  EXPECT_EQ(binaryTournament(random, {0}, {0}), 0u);
}

TEST(Operators, ChildrenHaveGenesOfTheirParents) {
  Random random(4);
  Genome a(9, 0), b(9, 1);
  std::set<Genome> uniform, runs;
  for (int i = 0; i < 500; ++i) {
    uniform.insert(uniformCrossover(random, a, b));
    Genome child = twoPointCrossover(random, a, b);
    runs.insert(child);
    // At most one run of genes comes from the second parent.
    int changes = child.front() + child.back();
    for (size_t k = 1; k < child.size(); ++k)
      changes += child[k] != child[k - 1];
    EXPECT_LE(changes, 2);
  }
  EXPECT_GT(uniform.size(), 200u);
  EXPECT_EQ(runs.size(), 9u * 10 / 2 + 1); // every run and none
}

TEST(Operators, MutationStaysInTheAlphabet) {
  Random random(6);
  std::vector<int> sizes = {1, 2, 3, 6, 256};
  std::vector<std::set<uint8_t>> values(sizes.size());
  for (int i = 0; i < 20000; ++i) {
    Genome genome(sizes.size(), 0);
    mutateGenes(random, genome, sizes, 1);
    for (size_t k = 0; k < sizes.size(); ++k) {
      EXPECT_LT(genome[k], sizes[k]);
      if (sizes[k] > 1)
        EXPECT_NE(genome[k], 0); // another value, always
      values[k].insert(genome[k]);
    }
  }
  for (size_t k = 1; k < sizes.size(); ++k)
    EXPECT_EQ(values[k].size(), size_t(sizes[k]) - 1);
  Genome genome = {0, 1, 2, 5, 255};
  mutateGenes(random, genome, sizes, 0);
  EXPECT_EQ(genome, (Genome{0, 1, 2, 5, 255}));
}

TEST(Operators, RunMutationSetsNeighbours) {
  Random random(7);
  for (size_t genes : {1, 2, 3, 50}) {
    std::vector<int> sizes(genes, 3);
    sizes[0] = 1;
    for (int i = 0; i < 1000; ++i) {
      Genome genome = randomGenome(random, sizes), before = genome;
      mutateRun(random, genome, sizes);
      size_t first = genes, last = 0;
      for (size_t k = 0; k < genes; ++k) {
        EXPECT_LT(genome[k], sizes[k]);
        if (genome[k] != before[k]) {
          first = std::min(first, k);
          last = k;
        }
      }
      for (size_t k = std::max<size_t>(first, 1); k <= last && k < genes; ++k)
        EXPECT_EQ(genome[k], genome[last]);
    }
  }
}

} // namespace
