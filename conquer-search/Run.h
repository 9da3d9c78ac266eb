//===- Run.h - a search that lives in an archive ----------------------------------------------===//
//
// Reads the files, opens the archive, rebuilds the state by replaying what it holds, and stores
// each step before it is answered.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SEARCH_RUN_H
#define CONQUER_SEARCH_RUN_H

#include "conquer-search/Archive.h"

namespace conquer {

/// The files of a run.
struct RunFiles {
  std::string layers, sensitivity, latencyTable;
};

class Run {
public:
  /// Starts the run, or resumes it if the archive has it. The identity of a run is the contents of
  /// the files (not their layout), the seed, population, offspring factor, objectives and
  /// constraints; `generations` may change, so that a finished run can be prolonged. Errors: those
  /// of the files, Search::create and Archive::open; an archive of another run; an archive whose
  /// candidates this program would not have proposed (another release).
  static Result<Run> open(const std::string &archivePath, const RunFiles &files,
                          const SearchOptions &options);

  const Search &search() const { return *state; }
  bool resumed() const { return wasResumed; }
  /// Candidates that were told.
  size_t numTold() const;

  /// The candidates of the current generation that are not told yet; a new generation is stored
  /// first. Empty if the search is over. Errors: the archive cannot be written (the same call can
  /// be repeated).
  Result<std::vector<size_t>> ask();
  /// Stores and takes an outcome. Errors: Search::check; the archive cannot be written (nothing
  /// changed).
  Status tell(const std::string &key, const Outcome &outcome);

private:
  Run(Archive archive, Search state) : archive(std::move(archive)), state(std::move(state)) {}
  Status replay();

  Archive archive;
  std::optional<Search> state;
  size_t numStored = 0; ///< candidates that the archive has
  bool wasResumed = false;
};

} // namespace conquer

#endif // CONQUER_SEARCH_RUN_H
