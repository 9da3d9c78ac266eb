//===- JsonLines.cpp - requests and answers, one JSON object a line ---------------------------===//

#include "support/JsonLines.h"

#include <new>

namespace conquer {

using Json = nlohmann::ordered_json;

namespace {

bool isId(const Json &value) { return value.is_null() || value.is_number() || value.is_string(); }

Result<Json> dispatch(const Json &request, const JsonMethods &methods) {
  static const Json none = Json::object();
  JsonReader reader(request, "request");
  std::string name = reader.string("method");
  const Json &id = reader.raw("id");
  if (!isId(id))
    reader.fail("id", std::string("is ") + id.type_name(), "a number or a string");
  bool hasParams = !reader.raw("params").is_null();
  JsonReader params = hasParams ? reader.object("params") : JsonReader(none, "request: params");
  reader.finish();
  if (Status status = reader.status(); !status)
    return status.error();
  std::string known;
  for (const auto &[key, method] : methods) {
    if (key == name) {
      JsonRequest call{id, std::move(params)};
      return method(call);
    }
    known += (known.empty() ? "" : ", ") + key;
  }
  return Error{"unknown method '" + name + "'", "request: method", "one of " + known, ""};
}

std::string render(const Json &id, const Result<Json> &result) {
  Json line = {{"id", id}, {"ok", static_cast<bool>(result)}};
  if (result)
    line["result"] = *result;
  else
    line["error"] = {{"what", result.error().what},
                     {"where", result.error().where},
                     {"expected", result.error().expected},
                     {"fix", result.error().fix}};
  // Names of a network or a request may hold bytes that are not UTF-8, and an error repeats them.
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace

std::string answerJsonLine(std::string_view line, const JsonMethods &methods) {
  Json id;
  try {
    Result<Json> request = parseJson(line, "request");
    if (!request)
      return render(id, request.error());
    if (request->is_object())
      if (auto given = request->find("id"); given != request->end() && isId(*given))
        id = *given;
    return render(id, dispatch(*request, methods));
  } catch (const std::bad_alloc &) {
    return render(id, Error{"out of memory", "", "", "give fewer samples, or use fewer threads"});
  } catch (const std::exception &exception) {
    return render(id, Error{std::string("internal error: ") + exception.what(), "", "", ""});
  }
}

} // namespace conquer
