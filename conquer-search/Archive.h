//===- Archive.h - the file that a search survives in -----------------------------------------===//
//
// One SQLite file per run: what the run is (identity), every candidate asked and everything told.
// Each change is one transaction that is on disk before the call returns, so a process killed at
// any moment leaves a file from which the same state follows.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SEARCH_ARCHIVE_H
#define CONQUER_SEARCH_ARCHIVE_H

#include "conquer-search/Search.h"

struct sqlite3;

namespace conquer {

class Archive {
public:
  /// What makes a run the same run: name and value, for example ("seed", "1").
  using Identity = std::vector<std::pair<std::string, std::string>>;

  /// Opens or creates the file and locks it until the object dies. A file of zero bytes is a new
  /// one (a process killed while creating leaves that). Errors: in use by another process, not an
  /// archive, damaged, not writable.
  static Result<Archive> open(const std::string &path);

  /// Stores the identity in a new archive, compares it in an old one. True if the archive had one
  /// (the run is resumed). Errors: another value under some name.
  Result<bool> bind(const Identity &identity);

  /// Everything stored, in the order asked. Genomes are empty (keys are stored). Errors: damaged
  /// file.
  Result<std::vector<Candidate>> load() const;

  /// Stores the candidates of one generation; all or none.
  Status addGeneration(const std::vector<const Candidate *> &candidates);

  /// Stores the outcome of a stored candidate.
  Status setOutcome(const std::string &key, const Outcome &outcome);

private:
  struct Close {
    void operator()(sqlite3 *handle) const;
  };
  using Handle = std::unique_ptr<sqlite3, Close>;

  Archive(Handle database, std::string path)
      : database(std::move(database)), file(std::move(path)) {}
  Error damaged(const std::string &finding) const;
  Error failure(const std::string &action) const;
  Status execute(const char *sql) const;
  Status checkContents();

  Handle database;
  std::string file;
};

} // namespace conquer

#endif // CONQUER_SEARCH_ARCHIVE_H
