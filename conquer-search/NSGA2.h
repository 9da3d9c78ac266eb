//===- NSGA2.h - the multi-objective genetic algorithm ----------------------------------------===//
//
// NSGA-II (Deb, Pratap, Agarwal, Meyarivan 2002) over categorical genes, driven by ask and tell: it
// never calls an evaluation. What it asks depends on the options, the first proposals, the
// predictor and the told values only, not on the order in which they are told.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SEARCH_NSGA2_H
#define CONQUER_SEARCH_NSGA2_H

#include "conquer-search/Operators.h"
#include "conquer-search/Screening.h"

#include <functional>
#include <set>

namespace conquer {

struct NSGA2Options {
  uint64_t seed = 1;
  int population = 24;  ///< candidates per generation, 2 to 10000
  int generations = 10; ///< in all, the first population included, 1 to 1000000
  int offspringFactor =
      8; ///< offspring proposed per evaluation where there is a predictor, 1 to 1000
  double exploration = 0.2; ///< share of a generation picked for uncertainty, 0 to 1
  double crossover = 0.9;   ///< chance that a child has two parents, 0 to 1
};

/// A genome to evaluate and how it came about ("uniform", "offspring", ...).
struct Proposal {
  Genome genome;
  std::string origin;
};

/// What came out of a genome. A failure is never kept as a parent and never in a front.
struct Evaluation {
  bool failed = false;
  Fitness fitness; ///< meaningless if it failed
};

/// Forecasts a genome; must be deterministic.
using Predictor = std::function<Forecast(const Genome &)>;

class NSGA2 {
public:
  /// Starts a run. `first` are the genomes that the first population must hold (copies dropped, all
  /// of them asked even if there are more than `population`); it is filled up with random ones.
  /// Errors: options out of range, an alphabet that is empty or longer than 256, a genome of
  /// `first` that does not fit the alphabets.
  static Result<NSGA2> create(std::vector<int> alphabetSizes, const NSGA2Options &options,
                              std::vector<Proposal> first);

  /// The candidates of the current generation; a new generation is made if all earlier ones are
  /// told. Never a genome that was asked before, so it may hold fewer than `population`; empty if
  /// the run is done. With a predictor, offspringFactor x population offspring are proposed and
  /// screened, beside those of `extra` that were not asked yet (they must fit the alphabets;
  /// ignored in the first generation and without a predictor).
  const std::vector<Proposal> &ask(const Predictor *predictor = nullptr,
                                   const std::vector<Proposal> &extra = {});

  /// The outcome of the candidate at `position` of the current generation. The last outcome of a
  /// generation closes it. Errors: no such position, told before, a value that is not finite, a
  /// negative violation, another number of objectives than before.
  Status tell(size_t position, Evaluation evaluation);

  /// Candidates asked and not told.
  size_t pending() const { return waiting; }
  /// Index of the current generation; the number of generations once all are told.
  int generation() const { return currentGeneration; }
  /// Why the run is over: "generations", "space exhausted", or empty while it is not.
  std::string stopReason() const;

private:
  struct Member {
    Genome genome;
    Fitness fitness;
  };

  NSGA2(std::vector<int> alphabetSizes, const NSGA2Options &options);
  std::vector<Proposal> breed(size_t count, const std::vector<Proposal> &extra);
  Genome child(const std::vector<size_t> &rank, const std::vector<double> &crowding);
  void addUnseen(std::vector<Proposal> &proposals, std::set<Genome> &fresh, size_t count);
  std::vector<Proposal> pickWith(const Predictor &predictor, std::vector<Proposal> proposals);
  void closeGeneration();

  std::vector<int> alphabetSizes;
  NSGA2Options options;
  uint64_t spaceSize;
  Random random;
  int currentGeneration = 0;
  size_t fitnessSize = 0, waiting = 0;
  std::vector<Proposal> first, asked;
  std::vector<Evaluation> told; ///< parallel to asked
  std::vector<bool> isTold;     ///< parallel to asked
  std::vector<Member> members;  ///< best first
  std::set<Genome> seen;
};

} // namespace conquer

#endif // CONQUER_SEARCH_NSGA2_H
