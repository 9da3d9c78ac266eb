//===- NSGA2Test.cpp - determinism, bad arguments, known fronts -------------------------------===//

#include "conquer-search/NSGA2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

using namespace conquer;
using testing::HasSubstr;

namespace {

using Objective = std::function<Evaluation(const Genome &)>;

/// Runs to the end; every genome that was asked, in order. Outcomes are told backwards if asked to.
std::vector<Genome> runAll(NSGA2 &search, const Objective &evaluate, bool backwards = false,
                           const Predictor *predictor = nullptr) {
  std::vector<Genome> all;
  for (;;) {
    std::vector<Proposal> asked = search.ask(predictor);
    if (asked.empty())
      return all;
    EXPECT_EQ(search.ask(predictor).size(), asked.size()); // asked again: the same
    for (size_t i = 0; i < asked.size(); ++i) {
      EXPECT_EQ(search.ask(predictor)[i].genome, asked[i].genome);
      all.push_back(asked[i].genome);
    }
    for (size_t i = 0; i < asked.size(); ++i) {
      size_t position = backwards ? asked.size() - 1 - i : i;
      EXPECT_TRUE(search.tell(position, evaluate(asked[position].genome)));
    }
  }
}

/// Additive objectives with distinct weights, so that the true front is known by counting.
Evaluation additive(const Genome &genome) {
  static const double gain[] = {3.1, 1.7, 2.3, 0.9, 4.2, 1.1, 0.4, 2.9};
  static const double loss[] = {1.3, 2.2, 0.7, 0.8, 1.9, 2.5, 0.3, 0.2};
  Evaluation evaluation;
  evaluation.fitness.objectives = {0, 0};
  for (size_t i = 0; i < genome.size(); ++i) {
    evaluation.fitness.objectives[0] += genome[i] ? 0 : gain[i];
    evaluation.fitness.objectives[1] += genome[i] ? loss[i] : 0;
  }
  return evaluation;
}

std::set<Point> frontOf(const std::vector<Genome> &genomes) {
  std::vector<Point> points;
  for (const Genome &genome : genomes)
    points.push_back(additive(genome).fitness.objectives);
  std::set<Point> front;
  for (size_t i : nonDominated(points))
    front.insert(points[i]);
  return front;
}

std::vector<Genome> allGenomes(size_t genes) {
  std::vector<Genome> all;
  for (unsigned bits = 0; bits < 1u << genes; ++bits) {
    Genome genome;
    for (size_t i = 0; i < genes; ++i)
      genome.push_back(bits >> i & 1);
    all.push_back(genome);
  }
  return all;
}

NSGA2 start(std::vector<int> sizes, int population, int generations, uint64_t seed = 1) {
  NSGA2Options options;
  options.seed = seed;
  options.population = population;
  options.generations = generations;
  return *NSGA2::create(std::move(sizes), options, {});
}

TEST(NSGA2, SameSeedSameRunWhateverTheOrderOfTelling) {
  std::vector<int> sizes(20, 3);
  Objective evaluate = [](const Genome &genome) {
    double ones = double(std::count(genome.begin(), genome.end(), 1));
    double twos = double(std::count(genome.begin(), genome.end(), 2));
    return Evaluation{genome[0] == 2,
                      {{ones - genome[3], twos + 2 * genome[7]}, double(genome[5] == 1)}};
  };
  NSGA2 a = start(sizes, 12, 8, 7), b = start(sizes, 12, 8, 7), c = start(sizes, 12, 8, 8);
  std::vector<Genome> first = runAll(a, evaluate);
  EXPECT_EQ(first, runAll(b, evaluate, true));
  EXPECT_NE(first, runAll(c, evaluate));
  EXPECT_EQ(first.size(), 96u);
  EXPECT_EQ(std::set<Genome>(first.begin(), first.end()).size(), first.size());
  EXPECT_EQ(a.stopReason(), "generations");
}

TEST(NSGA2, FindsTheTrueFrontOfASmallProblem) {
  std::set<Point> truth = frontOf(allGenomes(8));
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    // With a perfect predictor a third of the space is enough to see the whole front.
    NSGA2Options options;
    options.seed = seed;
    options.population = 12;
    options.generations = 7;
    options.offspringFactor = 10;
    NSGA2 search = *NSGA2::create(std::vector<int>(8, 2), options, {});
    Predictor predictor = [](const Genome &genome) {
      return Forecast{additive(genome).fitness, {0.1, 0.1}};
    };
    std::vector<Genome> seen = runAll(search, additive, false, &predictor);
    EXPECT_EQ(seen.size(), 84u);
    EXPECT_EQ(frontOf(seen), truth) << "seed " << seed;
    // Without one the volume under the front is nearly all there.
    NSGA2 plain = start(std::vector<int>(8, 2), 12, 12, seed);
    std::set<Point> found = frontOf(runAll(plain, additive));
    Point reference = {17, 10};
    EXPECT_GT(hypervolume({found.begin(), found.end()}, reference),
              0.99 * hypervolume({truth.begin(), truth.end()}, reference));
  }
}

TEST(NSGA2, SmallSpaceIsExhaustedWithoutRepeats) {
  NSGA2 search = start({2, 2, 2}, 20, 20);
  std::vector<Genome> seen = runAll(search, additive);
  EXPECT_EQ(seen.size(), 8u);
  EXPECT_EQ(std::set<Genome>(seen.begin(), seen.end()).size(), 8u);
  EXPECT_EQ(search.stopReason(), "space exhausted");
  EXPECT_EQ(search.generation(), 1);
  EXPECT_TRUE(search.ask().empty());

  NSGA2 single = start({1, 1}, 4, 3);
  EXPECT_EQ(runAll(single, additive).size(), 1u);
}

TEST(NSGA2, NothingFeasibleStillFindsTheLeastViolation) {
  NSGA2 search = start({6, 6, 6}, 20, 20);
  std::map<double, Genome> byViolation;
  std::vector<Genome> seen = runAll(search, [&](const Genome &genome) {
    double sum = std::accumulate(genome.begin(), genome.end(), 0.0);
    byViolation[1 + sum] = genome;
    return Evaluation{false, {{sum, -sum}, 1 + sum}};
  });
  EXPECT_EQ(byViolation.begin()->second, (Genome{0, 0, 0}));
  EXPECT_EQ(seen.size(), 216u);
  EXPECT_EQ(std::set<Genome>(seen.begin(), seen.end()).size(), 216u);
  EXPECT_EQ(search.stopReason(), "space exhausted");
}

TEST(NSGA2, EverythingFails) {
  NSGA2 search = start(std::vector<int>(10, 2), 8, 5);
  std::vector<Genome> seen = runAll(search, [](const Genome &) { return Evaluation{true, {}}; });
  EXPECT_EQ(seen.size(), 40u);
  EXPECT_EQ(std::set<Genome>(seen.begin(), seen.end()).size(), 40u);
}

TEST(NSGA2, IdenticalObjectivesEverywhere) {
  NSGA2 search = start(std::vector<int>(12, 2), 10, 10);
  std::vector<Genome> seen =
      runAll(search, [](const Genome &) { return Evaluation{false, {{1, 5}, 0}}; });
  EXPECT_EQ(std::set<Genome>(seen.begin(), seen.end()).size(), 100u);
}

TEST(NSGA2, FirstPopulationHoldsWhatItIsGiven) {
  NSGA2Options options;
  options.population = 3;
  std::vector<Proposal> first;
  for (uint8_t i = 0; i < 5; ++i)
    first.push_back({Genome{i, 0}, "uniform"});
  first.push_back({Genome{2, 0}, "frontier"}); // a copy
  NSGA2 search = *NSGA2::create({5, 5}, options, first);
  std::vector<Proposal> asked = search.ask();
  ASSERT_EQ(asked.size(), 5u);
  for (uint8_t i = 0; i < 5; ++i)
    EXPECT_EQ(asked[i].genome, (Genome{i, 0}));
}

TEST(NSGA2, PredictorKeepsWhatItPromises) {
  // A predictor that forbids gene 0 = 1 by a violation: exploitation never asks for it.
  NSGA2Options options;
  options.population = 10;
  options.exploration = 0;
  NSGA2 search = *NSGA2::create(std::vector<int>(16, 2), options, {});
  Predictor predictor = [](const Genome &genome) {
    double ones = double(std::count(genome.begin(), genome.end(), 1));
    return Forecast{{{ones, -ones}, double(genome[0])}, {1, 1}};
  };
  for (const Proposal &proposal : search.ask(&predictor))
    ASSERT_TRUE(search.tell(&proposal - search.ask(&predictor).data(),
                            {false, predictor(proposal.genome).mean}));
  for (const Proposal &proposal : search.ask(&predictor))
    EXPECT_EQ(proposal.genome[0], 0);
}

TEST(NSGA2, ExtraProposalsAreScreenedLikeOffspring) {
  NSGA2Options options;
  options.population = 6;
  options.exploration = 0;
  NSGA2 search = *NSGA2::create(std::vector<int>(30, 2), options, {});
  // Fewer zeros are better in both objectives; nobody breeds all ones in one generation.
  Predictor predictor = [](const Genome &genome) {
    double zeros = double(std::count(genome.begin(), genome.end(), 0));
    return Forecast{{{zeros, zeros}, 0}, {0, 0}};
  };
  Genome best(30, 1), worst(30, 0);
  std::vector<Proposal> extra = {{worst, "frontier"}, {best, "frontier"}, {best, "frontier"}};
  std::vector<Proposal> first = search.ask(&predictor, extra);
  for (size_t i = 0; i < first.size(); ++i)
    ASSERT_TRUE(search.tell(i, {false, predictor(first[i].genome).mean}));
  std::vector<Proposal> asked = search.ask(&predictor, extra);
  ASSERT_EQ(asked.size(), 6u);
  EXPECT_EQ(asked[0].genome, best);
  EXPECT_EQ(asked[0].origin, "frontier");
  for (size_t i = 1; i < asked.size(); ++i)
    EXPECT_TRUE(asked[i].genome != best && asked[i].genome != worst);
  for (size_t i = 0; i < asked.size(); ++i)
    ASSERT_TRUE(search.tell(i, {false, predictor(asked[i].genome).mean}));
  for (const Proposal &proposal : search.ask(&predictor, extra))
    EXPECT_NE(proposal.genome, best); // asked before
}

TEST(NSGA2, RefusesBadArguments) {
  auto message = [](std::vector<int> sizes, NSGA2Options options,
                    std::vector<Proposal> first = {}) {
    auto result = NSGA2::create(std::move(sizes), options, std::move(first));
    return result ? std::string() : result.error().message();
  };
  NSGA2Options options;
  EXPECT_EQ(message({2}, options), "");
  EXPECT_THAT(message({}, options), HasSubstr("has no genes"));
  EXPECT_THAT(message({2, 0}, options), HasSubstr("gene 1: has 0 values"));
  EXPECT_THAT(message({257}, options), HasSubstr("1 to 256"));
  EXPECT_THAT(message({2}, options, {{Genome{2}, ""}}), HasSubstr("does not fit"));
  EXPECT_THAT(message({2}, options, {{Genome{0, 0}, ""}}), HasSubstr("does not fit"));
  options.population = 1;
  EXPECT_THAT(message({2}, options), HasSubstr("population: is 1; expected 2 to 10000"));
  options = {};
  options.generations = 0;
  EXPECT_THAT(message({2}, options), HasSubstr("generations: is 0"));
  options = {};
  options.offspringFactor = 0;
  EXPECT_THAT(message({2}, options), HasSubstr("offspring_factor"));
  options = {};
  options.exploration = 1.5;
  EXPECT_THAT(message({2}, options), HasSubstr("exploration: is 1.5; expected 0 to 1"));
  options = {};
  options.crossover = std::nan("");
  EXPECT_THAT(message({2}, options), HasSubstr("crossover: is nan"));
}

TEST(NSGA2, RefusesBadOutcomes) {
  NSGA2 search = start({2, 2, 2, 2}, 4, 3);
  EXPECT_FALSE(search.tell(0, {}));
  search.ask();
  EXPECT_FALSE(search.tell(4, {false, {{1, 2}, 0}}));
  EXPECT_FALSE(search.tell(0, {false, {{1, std::nan("")}, 0}}));
  EXPECT_FALSE(search.tell(0, {false, {{1, INFINITY}, 0}}));
  EXPECT_FALSE(search.tell(0, {false, {{1, 2}, -1}}));
  EXPECT_FALSE(search.tell(0, {false, {{}, 0}}));
  EXPECT_EQ(search.pending(), 4u);
  EXPECT_TRUE(search.tell(0, {false, {{1, 2}, 0}}));
  EXPECT_FALSE(search.tell(0, {false, {{1, 2}, 0}}));
  EXPECT_FALSE(search.tell(1, {false, {{1, 2, 3}, 0}}));
  EXPECT_EQ(search.pending(), 3u);
}

} // namespace
