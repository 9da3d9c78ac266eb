//===- NSGA2.cpp - the multi-objective genetic algorithm --------------------------------------===//

#include "conquer-search/NSGA2.h"

#include <algorithm>
#include <cmath>

namespace conquer {

namespace {

/// Refuses a value outside [low, high].
Status checkRange(const char *name, double value, double low, double high) {
  auto text = [](double number) {
    std::string digits = std::to_string(number);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.')
      digits.pop_back();
    return digits;
  };
  if (value >= low && value <= high)
    return success();
  return Error{"is " + text(value), name, text(low) + " to " + text(high), ""};
}

Status checkOptions(const NSGA2Options &options) {
  for (const Status &status : {checkRange("population", options.population, 2, 10000),
                               checkRange("generations", options.generations, 1, 1000000),
                               checkRange("offspring_factor", options.offspringFactor, 1, 1000),
                               checkRange("exploration", options.exploration, 0, 1),
                               checkRange("crossover", options.crossover, 0, 1)})
    if (!status)
      return status;
  return success();
}

/// The next genome in counting order; the one after the last is the first.
void increment(Genome &genome, const std::vector<int> &alphabetSizes) {
  for (size_t i = 0; i < genome.size(); ++i) {
    if (genome[i] + 1 < alphabetSizes[i]) {
      ++genome[i];
      return;
    }
    genome[i] = 0;
  }
}

} // namespace

NSGA2::NSGA2(std::vector<int> alphabetSizes, const NSGA2Options &options)
    : alphabetSizes(std::move(alphabetSizes)), options(options),
      spaceSize(countGenomes(this->alphabetSizes)), random(options.seed) {}

Result<NSGA2> NSGA2::create(std::vector<int> alphabetSizes, const NSGA2Options &options,
                            std::vector<Proposal> first) {
  if (Status status = checkOptions(options); !status)
    return status.error();
  if (alphabetSizes.empty())
    return Error{"has no genes", "search space", "at least one", ""};
  for (size_t i = 0; i < alphabetSizes.size(); ++i)
    if (alphabetSizes[i] < 1 || alphabetSizes[i] > 256)
      return Error{"has " + std::to_string(alphabetSizes[i]) + " values",
                   "gene " + std::to_string(i), "1 to 256", ""};
  NSGA2 search(std::move(alphabetSizes), options);
  std::set<Genome> fresh;
  for (Proposal &proposal : first) {
    bool fits = proposal.genome.size() == search.alphabetSizes.size();
    for (size_t i = 0; fits && i < proposal.genome.size(); ++i)
      fits = proposal.genome[i] < search.alphabetSizes[i];
    if (!fits)
      return Error{"does not fit the alphabets", "genome of the first population", "", ""};
    if (fresh.insert(proposal.genome).second)
      search.first.push_back(std::move(proposal));
  }
  return search;
}

std::string NSGA2::stopReason() const {
  if (waiting > 0)
    return "";
  if (currentGeneration >= options.generations)
    return "generations";
  return seen.size() >= spaceSize ? "space exhausted" : "";
}

const std::vector<Proposal> &NSGA2::ask(const Predictor *predictor,
                                        const std::vector<Proposal> &extra) {
  if (waiting > 0)
    return asked;
  asked.clear();
  if (stopReason().empty()) {
    size_t population = options.population;
    if (currentGeneration == 0) {
      asked = std::move(first);
      std::set<Genome> fresh;
      for (const Proposal &proposal : asked)
        fresh.insert(proposal.genome);
      addUnseen(asked, fresh, population);
    } else if (predictor) {
      asked = pickWith(*predictor, breed(population * options.offspringFactor, extra));
    } else {
      asked = breed(population, {});
    }
  }
  for (const Proposal &proposal : asked)
    seen.insert(proposal.genome);
  told.assign(asked.size(), {});
  isTold.assign(asked.size(), false);
  waiting = asked.size();
  return asked;
}

/// What of `extra` nobody has seen, and up to `count` offspring; at least a population unless the
/// space is exhausted.
std::vector<Proposal> NSGA2::breed(size_t count, const std::vector<Proposal> &extra) {
  std::vector<size_t> rank(members.size());
  std::vector<double> crowding(members.size());
  std::vector<Fitness> fitness;
  fitness.reserve(members.size());
  for (const Member &member : members)
    fitness.push_back(member.fitness);
  std::vector<std::vector<size_t>> fronts = nonDominatedSort(fitness);
  for (size_t f = 0; f < fronts.size(); ++f) {
    std::vector<Point> points;
    for (size_t i : fronts[f])
      points.push_back(fitness[i].objectives);
    std::vector<double> distances = crowdingDistances(points);
    for (size_t i = 0; i < fronts[f].size(); ++i) {
      rank[fronts[f][i]] = f;
      crowding[fronts[f][i]] = distances[i];
    }
  }
  std::vector<Proposal> proposals;
  std::set<Genome> fresh;
  for (const Proposal &proposal : extra)
    if (!seen.count(proposal.genome) && fresh.insert(proposal.genome).second)
      proposals.push_back(proposal);
  count += proposals.size();
  // A population that has converged mostly breeds what is known already; random genomes fill the
  // rest.
  size_t attempts = members.empty() ? 0 : 10 * count;
  for (; attempts > 0 && proposals.size() < count; --attempts) {
    Genome genome = child(rank, crowding);
    if (!seen.count(genome) && fresh.insert(genome).second)
      proposals.push_back({std::move(genome), "offspring"});
  }
  addUnseen(proposals, fresh, options.population);
  return proposals;
}

/// One child of the current members: crossover, then mutation of one gene on average or of a run of
/// genes.
Genome NSGA2::child(const std::vector<size_t> &rank, const std::vector<double> &crowding) {
  const Genome &mother = members[binaryTournament(random, rank, crowding)].genome;
  Genome genome = mother;
  if (random.unit() < options.crossover) {
    const Genome &father = members[binaryTournament(random, rank, crowding)].genome;
    genome = random.below(2) ? uniformCrossover(random, mother, father)
                             : twoPointCrossover(random, mother, father);
  }
  if (random.below(4) == 0)
    mutateRun(random, genome, alphabetSizes);
  else
    mutateGenes(random, genome, alphabetSizes, 1.0 / static_cast<double>(genome.size()));
  return genome;
}

/// Fills `proposals` up to `count` with genomes nobody has seen: random ones, and where those are
/// hard to hit (a small space), the next ones in counting order from a random start. Falls short
/// only if the space ends.
void NSGA2::addUnseen(std::vector<Proposal> &proposals, std::set<Genome> &fresh, size_t count) {
  auto add = [&](const Genome &genome) {
    if (!seen.count(genome) && fresh.insert(genome).second)
      proposals.push_back({genome, "random"});
  };
  for (size_t attempts = 10 * count; attempts > 0 && proposals.size() < count; --attempts)
    add(randomGenome(random, alphabetSizes));
  if (proposals.size() >= count)
    return;
  // Among this many different genomes enough are unseen, or there are no more.
  uint64_t steps = std::min<uint64_t>(spaceSize, seen.size() + fresh.size() + count);
  Genome genome = randomGenome(random, alphabetSizes);
  for (; steps > 0 && proposals.size() < count; --steps) {
    add(genome);
    increment(genome, alphabetSizes);
  }
}

std::vector<Proposal> NSGA2::pickWith(const Predictor &predictor, std::vector<Proposal> proposals) {
  std::vector<Forecast> forecasts;
  forecasts.reserve(proposals.size());
  for (const Proposal &proposal : proposals)
    forecasts.push_back(predictor(proposal.genome));
  std::vector<Fitness> known;
  known.reserve(members.size());
  for (const Member &member : members)
    known.push_back(member.fitness);
  std::vector<Proposal> picked;
  for (const Pick &pick : screen(forecasts, known, options.population, options.exploration)) {
    picked.push_back(std::move(proposals[pick.index]));
    if (pick.exploration)
      picked.back().origin = "exploration";
  }
  return picked;
}

Status NSGA2::tell(size_t position, Evaluation evaluation) {
  if (waiting == 0 || position >= asked.size() || isTold[position])
    return Error{"is not waiting for an outcome", "candidate " + std::to_string(position),
                 "a candidate that was asked and not told", ""};
  if (!evaluation.failed) {
    const Fitness &fitness = evaluation.fitness;
    bool finite = std::isfinite(fitness.violation) && fitness.violation >= 0;
    for (double value : fitness.objectives)
      finite &= std::isfinite(value);
    if (!finite)
      return Error{"has a value that is not finite or a negative violation",
                   "candidate " + std::to_string(position), "finite numbers",
                   "tell it as a failure"};
    if (fitness.objectives.empty() ||
        (fitnessSize != 0 && fitness.objectives.size() != fitnessSize))
      return Error{"has " + std::to_string(fitness.objectives.size()) + " objectives",
                   "candidate " + std::to_string(position),
                   fitnessSize ? std::to_string(fitnessSize) : "at least one", ""};
    fitnessSize = fitness.objectives.size();
  }
  told[position] = std::move(evaluation);
  isTold[position] = true;
  if (--waiting == 0)
    closeGeneration();
  return success();
}

/// Elitist survival: the best `population` of the members and the candidates just told.
void NSGA2::closeGeneration() {
  for (size_t i = 0; i < asked.size(); ++i)
    if (!told[i].failed)
      members.push_back({asked[i].genome, std::move(told[i].fitness)});
  std::vector<Fitness> fitness;
  fitness.reserve(members.size());
  for (const Member &member : members)
    fitness.push_back(member.fitness);
  std::vector<Member> survivors;
  for (size_t i : selectBest(fitness, options.population))
    survivors.push_back(std::move(members[i]));
  members = std::move(survivors);
  ++currentGeneration;
}

} // namespace conquer
