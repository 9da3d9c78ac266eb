//===- Json.cpp - reading JSON files without surprises ----------------------------------------===//

#include "support/Json.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace conquer {

using Json = nlohmann::ordered_json;

namespace {

constexpr int maxDepth = 64;
const Json nullValue;

/// What a JSON value is, for messages.
std::string kindOf(const Json &value) { return value.type_name(); }

/// Deepest nesting of brackets outside strings; the parser recurses once per level.
int nestingDepth(std::string_view text) {
  int depth = 0, deepest = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

} // namespace

Result<Json> parseJson(std::string_view text, const std::string &where) {
  if (nestingDepth(text) > maxDepth)
    return Error{"JSON nested too deeply", where, "at most " + std::to_string(maxDepth) + " levels",
                 ""};
  try {
    return Json::parse(text);
  } catch (const Json::exception &exception) {
    return Error{std::string("not valid JSON: ") + exception.what(), where, "", ""};
  }
}

Result<Json> readJsonFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return Error{"cannot open file", path, "a readable file", ""};
  std::ostringstream text;
  text << stream.rdbuf();
  if (stream.bad() || text.fail())
    return Error{"cannot read file", path, "a readable file that is not empty", ""};
  return parseJson(text.str(), path);
}

Status writeFileAtomically(const std::string &path, std::string_view text) {
  Error error{"cannot write file", path, "a writable folder with free space", ""};
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    // A device such as /dev/null, or a pipe: it must not be replaced by a file of that name.
    std::ofstream stream(path, std::ios::binary);
    stream << text << std::flush;
    return stream ? success() : Status(error);
  }
  std::string temporary = path + ".tmp" + std::to_string(getpid());
  {
    std::ofstream stream(temporary, std::ios::binary);
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    stream.flush();
    if (!stream) {
      std::remove(temporary.c_str());
      return error;
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    std::remove(temporary.c_str());
    return error;
  }
  return success();
}

JsonReader::JsonReader(const Json &value, std::string file)
    : value(&value), file(std::move(file)), firstError(std::make_shared<std::optional<Error>>()) {
  if (!value.is_object())
    fail("", "is " + kindOf(value), "an object");
}

JsonReader::JsonReader(const Json &value, const JsonReader &parent, std::string location)
    : value(&value), file(parent.file), location(std::move(location)),
      firstError(parent.firstError) {
  if (ok() && !value.is_object())
    fail("", "is " + kindOf(value), "an object");
}

std::string JsonReader::pathOf(const std::string &key) const {
  if (key.empty())
    return location;
  return location.empty() ? key : location + "." + key;
}

void JsonReader::fail(const std::string &key, std::string what, std::string expected,
                      std::string fix) {
  if (!ok())
    return;
  std::string path = pathOf(key);
  *firstError = Error{std::move(what), path.empty() ? file : file + ": " + path,
                      std::move(expected), std::move(fix)};
}

Status JsonReader::status() const {
  if (!ok())
    return **firstError;
  return success();
}

const Json *JsonReader::field(const std::string &key) {
  seen.insert(key);
  if (!ok() || !value->is_object())
    return nullptr;
  auto found = value->find(key);
  if (found == value->end()) {
    fail(key, "missing field");
    return nullptr;
  }
  return &*found;
}

void JsonReader::header(std::string_view format) {
  std::string name = string("format");
  if (ok() && name != format)
    fail("format", "is '" + name + "'", "'" + std::string(format) + "'");
  int64_t version = integer("version");
  if (ok() && version != 1)
    fail("version", "is " + std::to_string(version), "1", "use a program of the same release");
}

bool JsonReader::has(const std::string &key) {
  return ok() && value->is_object() && value->find(key) != value->end();
}

std::string JsonReader::string(const std::string &key) {
  const Json *found = field(key);
  if (!found)
    return {};
  if (!found->is_string()) {
    fail(key, "is " + kindOf(*found), "a string");
    return {};
  }
  return found->get<std::string>();
}

double JsonReader::number(const std::string &key) {
  const Json *found = field(key);
  if (!found)
    return 0;
  if (!found->is_number() || !std::isfinite(found->get<double>())) {
    fail(key, "is " + kindOf(*found), "a finite number");
    return 0;
  }
  return found->get<double>();
}

namespace {

/// Whether it is an integer that int64_t can hold.
bool isInt64(const Json &value) {
  return value.is_number_integer() &&
         (!value.is_number_unsigned() || value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX));
}

} // namespace

int64_t JsonReader::integer(const std::string &key) {
  const Json *found = field(key);
  if (!found)
    return 0;
  if (!isInt64(*found)) {
    fail(key, "is " + found->dump(), "an integer");
    return 0;
  }
  return found->get<int64_t>();
}

bool JsonReader::boolean(const std::string &key) {
  const Json *found = field(key);
  if (!found)
    return false;
  if (!found->is_boolean()) {
    fail(key, "is " + kindOf(*found), "true or false");
    return false;
  }
  return found->get<bool>();
}

std::vector<int64_t> JsonReader::integers(const std::string &key) {
  std::vector<int64_t> result;
  const Json *found = field(key);
  if (!found)
    return result;
  if (!found->is_array()) {
    fail(key, "is " + kindOf(*found), "an array of integers");
    return result;
  }
  for (const Json &element : *found) {
    if (!isInt64(element)) {
      fail(key + "[" + std::to_string(result.size()) + "]", "is " + element.dump(), "an integer");
      return {};
    }
    result.push_back(element.get<int64_t>());
  }
  return result;
}

std::vector<double> JsonReader::numbers(const std::string &key) {
  std::vector<double> result;
  const Json *found = field(key);
  if (!found)
    return result;
  if (!found->is_array()) {
    fail(key, "is " + kindOf(*found), "an array of numbers");
    return result;
  }
  for (const Json &element : *found) {
    if (!element.is_number() || !std::isfinite(element.get<double>())) {
      fail(key + "[" + std::to_string(result.size()) + "]", "is " + kindOf(element),
           "a finite number");
      return {};
    }
    result.push_back(element.get<double>());
  }
  return result;
}

std::vector<std::string> JsonReader::strings(const std::string &key) {
  std::vector<std::string> result;
  const Json *found = field(key);
  if (!found)
    return result;
  if (!found->is_array()) {
    fail(key, "is " + kindOf(*found), "an array of strings");
    return result;
  }
  for (const Json &element : *found) {
    if (!element.is_string()) {
      fail(key + "[" + std::to_string(result.size()) + "]", "is " + kindOf(element), "a string");
      return {};
    }
    result.push_back(element.get<std::string>());
  }
  return result;
}

JsonReader JsonReader::object(const std::string &key) {
  const Json *found = field(key);
  return JsonReader(found ? *found : nullValue, *this, pathOf(key));
}

std::vector<JsonReader> JsonReader::objects(const std::string &key) {
  std::vector<JsonReader> result;
  const Json *found = field(key);
  if (!found)
    return result;
  if (!found->is_array()) {
    fail(key, "is " + kindOf(*found), "an array of objects");
    return result;
  }
  for (const Json &element : *found)
    result.push_back(
        JsonReader(element, *this, pathOf(key) + "[" + std::to_string(result.size()) + "]"));
  return result;
}

std::vector<std::string> JsonReader::keys() const {
  std::vector<std::string> result;
  if (value->is_object())
    for (const auto &item : value->items())
      result.push_back(item.key());
  return result;
}

const Json &JsonReader::raw(const std::string &key) {
  seen.insert(key);
  if (!has(key))
    return nullValue;
  return *value->find(key);
}

void JsonReader::finish() {
  if (!ok() || !value->is_object())
    return;
  for (const auto &item : value->items())
    if (!seen.count(item.key()))
      return fail(item.key(), "unknown field", "one of the documented fields",
                  "see docs/formats.md");
}

} // namespace conquer
