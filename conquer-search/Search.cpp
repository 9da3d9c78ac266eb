//===- Search.cpp - the search for precisions: NSGA-II, surrogates and what was told ----------===//

#include "conquer-search/Search.h"

#include "conquer-search/CostModel.h"
#include "conquer-search/Frontier.h"

#include <algorithm>
#include <cmath>

namespace conquer {

namespace {

using Surrogates = std::array<std::unique_ptr<Surrogate>, numObjectives>;

/// The uniform policies of all precisions, each once.
std::vector<Genome> uniformGenomes(const GenomeSpace &space) {
  std::vector<Genome> genomes;
  for (Precision precision : space.precisions()) {
    Genome genome = space.uniform(precision);
    if (std::count(genomes.begin(), genomes.end(), genome) == 0)
      genomes.push_back(std::move(genome));
  }
  return genomes;
}

/// The policies that the surrogates, as they are now, take for the best.
std::vector<Proposal> frontierProposals(const GenomeSpace &space, const SearchOptions &options,
                                        const Surrogates &surrogates, size_t count) {
  Objectives objectives = [&](const Genome &genome) {
    Values values;
    for (size_t k = 0; k < numObjectives; ++k)
      values[k] = surrogates[k]->predict(genome).mean;
    return select(options, values);
  };
  std::vector<Proposal> proposals;
  for (Genome &genome :
       surrogateFrontier(space.alphabetSizes(), uniformGenomes(space), objectives, count))
    proposals.push_back({std::move(genome), "frontier"});
  return proposals;
}

/// Uniform policies, then the frontier of the surrogates up to half a population.
std::vector<Proposal> firstProposals(const GenomeSpace &space, const SearchOptions &options,
                                     const Surrogates &surrogates) {
  std::vector<Proposal> first;
  for (Genome &genome : uniformGenomes(space))
    first.push_back({std::move(genome), "uniform"});
  for (Proposal &proposal :
       frontierProposals(space, options, surrogates, (options.engine.population + 1) / 2))
    first.push_back(std::move(proposal));
  return first;
}

} // namespace

Search::Search(GenomeSpace space, SearchOptions options, NSGA2 engine, Surrogates surrogates)
    : genomes(std::move(space)), options(std::move(options)), engine(std::move(engine)),
      surrogates(std::move(surrogates)) {}

Result<Search> Search::create(const Network &network, const SensitivityTable &sensitivity,
                              const LatencyTable &latency, const SearchOptions &options) {
  if (Status status = checkOptions(options); !status)
    return status.error();
  auto space = makeSpace(network, options.pinned);
  if (!space)
    return space.error();
  auto latencyModel = LatencyModel::create(network, latency, *space);
  if (!latencyModel)
    return latencyModel.error();
  Surrogates surrogates = {std::make_unique<LatencyModel>(std::move(*latencyModel)),
                           std::make_unique<AccuracySurrogate>(sensitivity, *space),
                           std::make_unique<SizeModel>(network, *space)};
  // A wrong option is found before the work on the first population.
  if (auto engine = NSGA2::create(space->alphabetSizes(), options.engine, {}); !engine)
    return engine.error();
  auto engine = NSGA2::create(space->alphabetSizes(), options.engine,
                              firstProposals(*space, options, surrogates));
  if (!engine)
    return engine.error();
  return Search(std::move(*space), options, std::move(*engine), std::move(surrogates));
}

std::vector<size_t> Search::ask() {
  if (engine.pending() == 0) {
    refit();
    Predictor predictor = [this](const Genome &genome) {
      Values means, deviations, best;
      for (size_t k = 0; k < numObjectives; ++k) {
        Estimate estimate = surrogates[k]->predict(genome);
        means[k] = estimate.mean;
        deviations[k] = estimate.deviation;
        best[k] = estimate.mean - estimate.deviation;
      }
      return Forecast{{select(options, means), violationOf(options, means)},
                      select(options, deviations),
                      violationOf(options, best)};
    };
    std::vector<Proposal> frontier;
    if (engine.generation() > 0 && stopReason().empty())
      frontier = frontierProposals(genomes, options, surrogates, 4 * options.engine.population);
    generationStart = all.size();
    for (const Proposal &proposal : engine.ask(&predictor, frontier)) {
      Candidate candidate{engine.generation(),
                          genomes.key(proposal.genome),
                          proposal.origin,
                          proposal.genome,
                          {},
                          {}};
      for (size_t k = 0; k < numObjectives; ++k)
        candidate.predicted[k] = surrogates[k]->predict(proposal.genome);
      all.push_back(std::move(candidate));
    }
  }
  std::vector<size_t> current;
  for (size_t i = generationStart; i < all.size(); ++i)
    current.push_back(i);
  return current;
}

/// Teaches each surrogate all values measured so far, in the order asked.
void Search::refit() {
  for (size_t k = 0; k < numObjectives; ++k) {
    std::vector<Observation> observations;
    for (const Candidate &candidate : all)
      if (candidate.measured() && candidate.outcome->values[k])
        observations.push_back({candidate.genome, *candidate.outcome->values[k]});
    surrogates[k]->fit(observations);
  }
}

Status Search::check(const std::string &key, const Outcome &outcome) const {
  auto found = std::find_if(all.begin(), all.end(),
                            [&](const Candidate &candidate) { return candidate.key == key; });
  if (found == all.end())
    return Error{"unknown key '" + key + "'", "key", "a key that 'ask' gave", ""};
  if (found->outcome)
    return Error{"candidate '" + key + "' was told already", "key", "a key that 'ask' gives now",
                 "ask again"};
  if (outcome.failure)
    return success();
  for (size_t k = 0; k < numObjectives; ++k) {
    std::string where = "measured." + std::string(objectiveName(static_cast<Objective>(k)));
    bool needed =
        options.limits[k] || std::count(options.objectives.begin(), options.objectives.end(),
                                        static_cast<Objective>(k)) > 0;
    const std::optional<double> &value = outcome.values[k];
    if (needed && !value)
      return Error{"missing field", where, "every objective and every limited value",
                   "tell a failure if it could not be measured"};
    if (value && (!std::isfinite(*value) ||
                  (static_cast<Objective>(k) != Objective::Accuracy && *value < 0)))
      return Error{"is " + std::to_string(*value), where, "a finite number, at least 0", ""};
  }
  if (!std::isfinite(fitness(outcome).violation))
    return Error{"exceeds a limit by more than a number can hold", "measured", "comparable numbers",
                 "raise the limit"};
  return success();
}

Status Search::tell(const std::string &key, Outcome outcome) {
  if (Status status = check(key, outcome); !status)
    return status;
  size_t index = generationStart;
  while (all[index].key != key)
    ++index;
  Candidate &candidate = all[index];
  candidate.outcome = std::move(outcome);
  Evaluation evaluation;
  evaluation.failed = !candidate.measured();
  if (!evaluation.failed)
    evaluation.fitness = fitness(*candidate.outcome);
  return engine.tell(index - generationStart, std::move(evaluation));
}

Fitness Search::fitness(const Outcome &outcome) const {
  Values values;
  for (size_t k = 0; k < numObjectives; ++k)
    values[k] = outcome.values[k].value_or(0);
  return {select(options, values), violationOf(options, values)};
}

std::vector<size_t> Search::front(int generation) const {
  std::vector<size_t> feasible;
  std::vector<Point> points;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].generation <= generation && all[i].measured() &&
        fitness(*all[i].outcome).violation == 0) {
      feasible.push_back(i);
      points.push_back(fitness(*all[i].outcome).objectives);
    }
  std::vector<size_t> best = nonDominated(points);
  std::sort(best.begin(), best.end(), [&](size_t a, size_t b) {
    return points[a] != points[b] ? points[a] < points[b] : a < b;
  });
  for (size_t &i : best)
    i = feasible[i];
  return best;
}

std::optional<size_t> Search::leastViolating(int generation) const {
  std::optional<size_t> best;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].generation > generation || !all[i].measured())
      continue;
    if (fitness(*all[i].outcome).violation == 0)
      return std::nullopt;
    if (!best || fitness(*all[i].outcome).violation < fitness(*all[*best].outcome).violation)
      best = i;
  }
  return best;
}

std::vector<std::pair<Precision, size_t>> Search::uniforms() const {
  std::vector<std::pair<Precision, size_t>> result;
  for (Precision precision : genomes.precisions()) {
    Genome genome = genomes.uniform(precision);
    auto listed = [&](const auto &entry) { return all[entry.second].genome == genome; };
    for (size_t i = 0; i < all.size() && all[i].generation == 0; ++i)
      if (all[i].genome == genome && all[i].measured() &&
          std::none_of(result.begin(), result.end(), listed))
        result.push_back({precision, i});
  }
  return result;
}

Search::Box Search::box() const {
  std::vector<size_t> indices;
  for (const auto &[precision, i] : uniforms())
    indices.push_back(i);
  if (indices.empty())
    for (size_t i = 0; i < all.size() && all[i].generation == 0; ++i)
      if (all[i].measured())
        indices.push_back(i);
  Box result;
  for (size_t i : indices) {
    Point point = fitness(*all[i].outcome).objectives;
    if (result.ideal.empty())
      result = {point, point};
    for (size_t k = 0; k < point.size(); ++k) {
      result.ideal[k] = std::min(result.ideal[k], point[k]);
      result.reference[k] = std::max(result.reference[k], point[k]);
    }
  }
  for (size_t k = 0; k < result.ideal.size(); ++k) {
    double &ideal = result.ideal[k], &reference = result.reference[k];
    if (double span = reference - ideal; span > 0) {
      reference += 0.1 * span;
    } else {
      double margin = std::max(0.1 * std::abs(reference), 1e-9);
      ideal -= margin;
      reference += margin;
    }
  }
  return result;
}

double Search::hypervolumeOf(const std::vector<size_t> &indices) const {
  Box bounds = box();
  std::vector<Point> points;
  for (size_t i : indices)
    if (all[i].measured() && fitness(*all[i].outcome).violation == 0)
      points.push_back(fitness(*all[i].outcome).objectives);
  double volume = 1;
  for (size_t k = 0; k < bounds.ideal.size(); ++k)
    volume *= bounds.reference[k] - bounds.ideal[k];
  return points.empty() ? 0 : hypervolume(points, bounds.reference) / volume;
}

} // namespace conquer
