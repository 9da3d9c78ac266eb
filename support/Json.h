//===- Json.h - reading JSON files without surprises ------------------------------------------===//
//
// A reader that knows the path of the field it reads and keeps the first mistake, so that callers
// read all fields in a row and ask once whether it went well. Nothing here throws; it can be used
// from code built without exceptions.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SUPPORT_JSON_H
#define CONQUER_SUPPORT_JSON_H

#include "support/Error.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace conquer {

/// Parses text; `where` (a file name, "request") begins the message if that fails. Depth is limited
/// to 64.
Result<nlohmann::ordered_json> parseJson(std::string_view text, const std::string &where);
/// Reads and parses a file.
Result<nlohmann::ordered_json> readJsonFile(const std::string &path);
/// Writes to a temporary file beside `path` and renames it, so that readers see the old or the new
/// text, never half.
/// What is not a regular file (a device, a pipe) is written to as it is.
Status writeFileAtomically(const std::string &path, std::string_view text);

/// A view of one JSON object (or array element) with its path. Getters return an empty value after
/// the first mistake. The JSON value must outlive the reader.
class JsonReader {
public:
  /// The root of a file. `file` begins every message.
  JsonReader(const nlohmann::ordered_json &value, std::string file);

  /// Checks "format" and "version" (1).
  void header(std::string_view format);
  bool has(const std::string &key);
  std::string string(const std::string &key);
  /// Finite.
  double number(const std::string &key);
  int64_t integer(const std::string &key);
  bool boolean(const std::string &key);
  std::vector<int64_t> integers(const std::string &key);
  std::vector<double> numbers(const std::string &key);
  std::vector<std::string> strings(const std::string &key);
  JsonReader object(const std::string &key);
  /// The objects of an array field.
  std::vector<JsonReader> objects(const std::string &key);
  /// The keys of this object in file order; for objects used as maps. Marks none as read.
  std::vector<std::string> keys() const;
  /// The raw value of a field, null if absent.
  const nlohmann::ordered_json &raw(const std::string &key);

  /// Records a mistake at a field of this object (the first one of the file is kept).
  void fail(const std::string &key, std::string what, std::string expected = "",
            std::string fix = "");
  /// Fields that nobody read are mistakes. Call it once per object, last.
  void finish();

  bool ok() const { return !*firstError; }
  /// success(), or the first mistake of the whole file.
  Status status() const;
  /// "layers[3]"; empty at the root.
  const std::string &path() const { return location; }

private:
  JsonReader(const nlohmann::ordered_json &value, const JsonReader &parent, std::string location);
  const nlohmann::ordered_json *field(const std::string &key);
  std::string pathOf(const std::string &key) const;

  const nlohmann::ordered_json *value;
  std::string file, location;
  std::shared_ptr<std::optional<Error>> firstError;
  std::set<std::string> seen;
};

} // namespace conquer

#endif // CONQUER_SUPPORT_JSON_H
