//===- Archive.cpp - the file that a search survives in ---------------------------------------===//

#include "conquer-search/Archive.h"

#include <sqlite3.h>

#include <filesystem>

namespace conquer {

namespace {

constexpr int applicationId = 0x43517541; // "CQuA", in the file's header
constexpr int schemaVersion = 1;

constexpr const char *schema =
    "CREATE TABLE identity(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE candidates(position INTEGER PRIMARY KEY, generation INTEGER NOT NULL,"
    " key TEXT NOT NULL UNIQUE, origin TEXT NOT NULL,"
    " predicted_latency_ms REAL NOT NULL, predicted_latency_ms_sd REAL NOT NULL,"
    " predicted_accuracy_drop REAL NOT NULL, predicted_accuracy_drop_sd REAL NOT NULL,"
    " predicted_size_bytes REAL NOT NULL, predicted_size_bytes_sd REAL NOT NULL,"
    " told INTEGER NOT NULL DEFAULT 0, failure TEXT, measured_latency_ms REAL,"
    " measured_accuracy_drop REAL, measured_size_bytes REAL, measured_latency_ms_spread REAL);"
    "PRAGMA application_id = 1129411905; PRAGMA user_version = 1;";
static_assert(applicationId == 1129411905 && schemaVersion == 1, "the schema names them");

/// A prepared statement; steps and columns in the order of use.
class Statement {
public:
  Statement(sqlite3 *database, const char *sql) {
    status = sqlite3_prepare_v2(database, sql, -1, &statement, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement); }
  Statement(const Statement &) = delete;
  Statement &operator=(const Statement &) = delete;

  Statement &bind(const std::string &text) {
    if (statement)
      sqlite3_bind_text(statement, ++parameter, text.data(), static_cast<int>(text.size()),
                        SQLITE_TRANSIENT);
    return *this;
  }
  Statement &bind(int64_t value) {
    if (statement)
      sqlite3_bind_int64(statement, ++parameter, value);
    return *this;
  }
  Statement &bind(double value) {
    if (statement)
      sqlite3_bind_double(statement, ++parameter, value);
    return *this;
  }
  template <typename T> Statement &bind(const std::optional<T> &value) {
    if (value)
      return bind(*value);
    if (statement)
      sqlite3_bind_null(statement, ++parameter);
    return *this;
  }

  /// True if there is a row. Afterwards `done` tells the end from an error.
  bool step() {
    if (status == SQLITE_OK || status == SQLITE_ROW)
      status = sqlite3_step(statement);
    column = 0;
    return status == SQLITE_ROW;
  }
  bool done() const { return status == SQLITE_DONE; }

  int64_t integer() { return sqlite3_column_int64(statement, column++); }
  double real() { return sqlite3_column_double(statement, column++); }
  std::string text() {
    const unsigned char *value = sqlite3_column_text(statement, column);
    int bytes = sqlite3_column_bytes(statement, column++);
    return value ? std::string(reinterpret_cast<const char *>(value), bytes) : std::string();
  }
  bool isNull() const { return sqlite3_column_type(statement, column) == SQLITE_NULL; }
  std::optional<double> maybeReal() {
    double value = real();
    --column;
    bool null = isNull();
    ++column;
    return null ? std::nullopt : std::optional<double>(value);
  }
  std::optional<std::string> maybeText() {
    bool null = isNull();
    std::string value = text();
    return null ? std::nullopt : std::optional<std::string>(std::move(value));
  }

private:
  sqlite3_stmt *statement = nullptr;
  int status, parameter = 0, column = 0;
};

} // namespace

void Archive::Close::operator()(sqlite3 *handle) const { sqlite3_close(handle); }

Error Archive::damaged(const std::string &finding) const {
  return {"archive is damaged: " + finding, file, "a file that conquer-search wrote",
          "restore it, or move it away to start anew"};
}

/// The Error of the last failed SQLite call.
Error Archive::failure(const std::string &action) const {
  switch (sqlite3_errcode(database.get())) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return {"archive is in use by another process", file, "one conquer-search per archive",
            "wait until it ends, or name another file"};
  case SQLITE_NOTADB:
  case SQLITE_CORRUPT:
    return {"archive is damaged or not an archive", file, "a file that conquer-search wrote",
            "restore it, or move it away to start anew"};
  case SQLITE_CANTOPEN:
  case SQLITE_READONLY:
  case SQLITE_PERM:
    return {"cannot open archive for writing", file, "a writable file in a writable folder", ""};
  case SQLITE_FULL:
    return {"no space left for the archive", file, "", "free space and repeat the request"};
  default:
    return {"cannot " + action + ": " + sqlite3_errmsg(database.get()), file, "", ""};
  }
}

Status Archive::execute(const char *sql) const {
  if (sqlite3_exec(database.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK)
    return success();
  Error error = failure("write the archive");
  // Whatever was begun is undone; there is nothing to undo if BEGIN itself failed.
  if (!sqlite3_get_autocommit(database.get()))
    sqlite3_exec(database.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  return error;
}

Result<Archive> Archive::open(const std::string &path) {
  sqlite3 *raw = nullptr;
  int status =
      sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Archive archive(Handle(raw), path);
  if (status != SQLITE_OK)
    return archive.failure("open the archive");
  // SQLite takes a file that is shorter than its header for an empty one.
  std::error_code unreadable;
  auto bytes = std::filesystem::file_size(path, unreadable);
  if (!unreadable && bytes > 0 && bytes < 512)
    return archive.damaged("the file is cut short");
  // The lock is taken by the first transaction and kept until the connection closes or the process
  // dies.
  if (Status locked = archive.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL;"
                                      "BEGIN EXCLUSIVE; COMMIT;");
      !locked)
    return locked.error();
  if (Status checked = archive.checkContents(); !checked)
    return checked.error();
  return archive;
}

/// Creates the tables in an empty file; otherwise checks that this is a sound archive of our
/// version.
Status Archive::checkContents() {
  Statement tables(database.get(), "SELECT count(*) FROM sqlite_master");
  if (!tables.step())
    return failure("read the archive");
  // Nor does it notice a last page that is cut short.
  Statement pages(database.get(), "SELECT page_count * page_size FROM pragma_page_count, "
                                  "pragma_page_size");
  std::error_code ignored;
  if (!pages.step())
    return failure("read the archive");
  if (pages.integer() != static_cast<int64_t>(std::filesystem::file_size(file, ignored)))
    return damaged("the file is cut short");
  if (tables.integer() == 0)
    return execute((std::string("BEGIN;") + schema + "COMMIT;").c_str());
  Statement header(database.get(), "SELECT application_id, user_version FROM "
                                   "pragma_application_id, pragma_user_version");
  if (!header.step())
    return failure("read the archive");
  if (header.integer() != applicationId)
    return Error{"is an SQLite file of another program", file, "a file that conquer-search wrote",
                 "name another file"};
  if (int64_t version = header.integer(); version != schemaVersion)
    return Error{"has version " + std::to_string(version), file, std::to_string(schemaVersion),
                 "use a program of the same release"};
  Statement check(database.get(), "PRAGMA quick_check(1)");
  if (!check.step())
    return failure("read the archive");
  if (std::string finding = check.text(); finding != "ok")
    return damaged(finding);
  return success();
}

Result<bool> Archive::bind(const Identity &identity) {
  std::map<std::string, std::string> stored;
  Statement select(database.get(), "SELECT name, value FROM identity");
  while (select.step()) {
    std::string name = select.text();
    stored[name] = select.text();
  }
  if (!select.done())
    return failure("read the archive");
  if (!stored.empty()) {
    for (const auto &[name, value] : identity)
      if (stored[name] != value)
        return Error{"archive belongs to a run with another " + name, file, stored[name],
                     "asked for " + value + "; name another archive for another run"};
    return true;
  }
  if (Status begun = execute("BEGIN"); !begun)
    return begun.error();
  for (const auto &[name, value] : identity) {
    Statement insert(database.get(), "INSERT INTO identity VALUES(?, ?)");
    insert.bind(name).bind(value).step();
    if (!insert.done()) {
      Error error = failure("write the archive");
      sqlite3_exec(database.get(), "ROLLBACK", nullptr, nullptr, nullptr);
      return error;
    }
  }
  if (Status committed = execute("COMMIT"); !committed)
    return committed.error();
  return false;
}

Result<std::vector<Candidate>> Archive::load() const {
  Statement select(
      database.get(),
      "SELECT generation, key, origin, predicted_latency_ms, predicted_latency_ms_sd,"
      " predicted_accuracy_drop, predicted_accuracy_drop_sd, predicted_size_bytes,"
      " predicted_size_bytes_sd, told, failure, measured_latency_ms, measured_accuracy_drop,"
      " measured_size_bytes, measured_latency_ms_spread FROM candidates ORDER BY position");
  std::vector<Candidate> candidates;
  while (select.step()) {
    Candidate candidate;
    candidate.generation = static_cast<int>(select.integer());
    candidate.key = select.text();
    candidate.origin = select.text();
    for (Estimate &estimate : candidate.predicted) {
      estimate.mean = select.real();
      estimate.deviation = select.real();
    }
    bool told = select.integer() != 0;
    Outcome outcome;
    outcome.failure = select.maybeText();
    for (auto &value : outcome.values)
      value = select.maybeReal();
    outcome.latencySpread = select.maybeReal();
    if (told)
      candidate.outcome = std::move(outcome);
    candidates.push_back(std::move(candidate));
  }
  if (!select.done())
    return failure("read the archive");
  return candidates;
}

Status Archive::addGeneration(const std::vector<const Candidate *> &candidates) {
  if (Status begun = execute("BEGIN"); !begun)
    return begun;
  for (const Candidate *candidate : candidates) {
    Statement insert(database.get(),
                     "INSERT INTO candidates(generation, key, origin, predicted_latency_ms,"
                     " predicted_latency_ms_sd, predicted_accuracy_drop,"
                     " predicted_accuracy_drop_sd, predicted_size_bytes, predicted_size_bytes_sd)"
                     " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(static_cast<int64_t>(candidate->generation));
    insert.bind(candidate->key).bind(candidate->origin);
    for (const Estimate &estimate : candidate->predicted)
      insert.bind(estimate.mean).bind(estimate.deviation);
    insert.step();
    if (!insert.done()) {
      Error error = failure("write the archive");
      sqlite3_exec(database.get(), "ROLLBACK", nullptr, nullptr, nullptr);
      return error;
    }
  }
  return execute("COMMIT");
}

Status Archive::setOutcome(const std::string &key, const Outcome &outcome) {
  Statement update(database.get(),
                   "UPDATE candidates SET told = 1, failure = ?, measured_latency_ms = ?,"
                   " measured_accuracy_drop = ?, measured_size_bytes = ?,"
                   " measured_latency_ms_spread = ? WHERE key = ? AND told = 0");
  update.bind(outcome.failure);
  for (const auto &value : outcome.values)
    update.bind(value);
  update.bind(outcome.latencySpread).bind(key).step();
  if (!update.done())
    return failure("write the archive");
  if (sqlite3_changes(database.get()) != 1)
    return Error{"has no candidate '" + key + "' that waits", file, "", ""};
  return success();
}

} // namespace conquer
