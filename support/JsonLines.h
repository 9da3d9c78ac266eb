//===- JsonLines.h - requests and answers, one JSON object a line -----------------------------===//
//
// The envelope that conquer-eval and conquer-search share (docs/formats.md, "JSON lines"): a
// request is {"id", "method", "params"}, an answer {"id", "ok", "result"} or {"id", "ok", "error"}.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SUPPORT_JSONLINES_H
#define CONQUER_SUPPORT_JSONLINES_H

#include "support/Json.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>

namespace conquer {

/// A request whose envelope is right.
struct JsonRequest {
  const nlohmann::ordered_json &id; ///< null, a number or a string
  JsonReader params;                ///< an empty object where the request has none

  /// Reads the last parameter, then says whether all parameters were right.
  Status finish() {
    params.finish();
    return params.status();
  }
};

using JsonMethod = std::function<Result<nlohmann::ordered_json>(JsonRequest &)>;
using JsonMethods = std::map<std::string, JsonMethod, std::less<>>;

/// The answer to one line, without a line break. Never throws; any text is allowed, and what a
/// method throws is an error answer.
std::string answerJsonLine(std::string_view line, const JsonMethods &methods);

} // namespace conquer

#endif // CONQUER_SUPPORT_JSONLINES_H
