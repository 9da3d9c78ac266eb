//===- Search.h - the search for precisions: NSGA-II, surrogates and what was told ------------===//
//
// Joins the parts: proposes candidates with predictions made at that moment, takes the measured
// values, refits the surrogates after each generation, and tells the front. Nothing here touches
// files; the whole state follows from the constructor's arguments and the told values.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SEARCH_SEARCH_H
#define CONQUER_SEARCH_SEARCH_H

#include "conquer-search/SearchOptions.h"
#include "conquer-search/Surrogate.h"

#include <memory>

namespace conquer {

/// What an evaluation found: values, or the reason why there are none.
struct Outcome {
  std::array<std::optional<double>, numObjectives> values; ///< ms, fraction of 1, bytes
  std::optional<double> latencySpread;                     ///< ms
  std::optional<std::string> failure;
};

/// One policy that was proposed. `predicted` is what the surrogates said when it was.
struct Candidate {
  int generation;
  std::string key, origin;
  Genome genome;
  std::array<Estimate, numObjectives> predicted;
  std::optional<Outcome> outcome;

  bool measured() const { return outcome && !outcome->failure; }
};

class Search {
public:
  /// Starts a search. Errors: options out of range (see NSGA2Options), no or repeated objectives, a
  /// latency or size limit that is not positive, a pinned layer or precision that does not exist, a
  /// table without a needed time.
  static Result<Search> create(const Network &network, const SensitivityTable &sensitivity,
                               const LatencyTable &latency, const SearchOptions &options);

  /// Indices into candidates() of the current generation, told ones included; makes it if there is
  /// none under way. Empty if the search is over.
  std::vector<size_t> ask();

  /// Whether `tell` would take this: the key is one of the current generation and not told, values
  /// are finite, latency and size not negative, and every objective and every limited value is
  /// there (or a failure).
  Status check(const std::string &key, const Outcome &outcome) const;
  /// Takes an outcome. Errors: as check.
  Status tell(const std::string &key, Outcome outcome);

  const std::vector<Candidate> &candidates() const { return all; }
  const GenomeSpace &space() const { return genomes; }
  const std::vector<Objective> &objectives() const { return options.objectives; }
  size_t pending() const { return engine.pending(); }
  /// Index of the generation under way, which is the number of complete ones.
  int generation() const { return engine.generation(); }
  /// See NSGA2::stopReason.
  std::string stopReason() const { return engine.stopReason(); }

  /// Objectives and violation of a measured candidate. A violation is excess / scale, the scale
  /// being the limit, for accuracy_drop at least 0.01.
  Fitness fitness(const Outcome &outcome) const;
  /// The measured, feasible, non-dominated candidates of generations 0 to `generation`, sorted by
  /// objectives.
  std::vector<size_t> front(int generation) const;
  /// If no candidate of generations 0 to `generation` is feasible: the measured one with the least
  /// violation.
  std::optional<size_t> leastViolating(int generation) const;
  /// The uniform policies that were measured, by precision; a precision whose uniform policy is the
  /// same as that of an earlier one is left out.
  std::vector<std::pair<Precision, size_t>> uniforms() const;

  /// The box in which hypervolume is measured, fixed once generation 0 is complete: per objective,
  /// `ideal` is the best value of the measured uniform policies and `reference` is their worst
  /// value plus a tenth of the distance between the two (if they agree, both move outwards by a
  /// tenth of the value, at least 1e-9). If no uniform policy was measured, all candidates of
  /// generation 0 serve; if none of those either, the box has no sides.
  struct Box {
    Point ideal, reference;
  };
  Box box() const;
  /// Hypervolume of candidates as a share of the box: 0 for none, 1 for a point that is as good as
  /// the best uniform policy in every objective; infeasible and failed candidates add nothing.
  double hypervolumeOf(const std::vector<size_t> &indices) const;

private:
  Search(GenomeSpace space, SearchOptions options, NSGA2 engine,
         std::array<std::unique_ptr<Surrogate>, numObjectives> surrogates);
  void refit();

  GenomeSpace genomes;
  SearchOptions options;
  NSGA2 engine;
  std::array<std::unique_ptr<Surrogate>, numObjectives> surrogates;
  std::vector<Candidate> all;
  size_t generationStart = 0; ///< index of the current generation's first candidate
};

} // namespace conquer

#endif // CONQUER_SEARCH_SEARCH_H
