//===- Server.h - the JSON-lines protocol of conquer-search -----------------------------------===//
//
// One request per line, one answer per line (docs/formats.md, "conquer-search: JSON lines"). A
// mistake in a request is an error answer and changes nothing.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SEARCH_SERVER_H
#define CONQUER_SEARCH_SERVER_H

#include "conquer-search/Run.h"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace conquer {

class JsonReader;

class Server {
public:
  /// `archivePath` is opened by the first "open".
  explicit Server(std::string archivePath) : archivePath(std::move(archivePath)) {}

  /// The answer to one line, without a line break. Never throws; any text is allowed.
  std::string answer(std::string_view line);
  /// Whether "shutdown" was asked.
  bool isShutDown() const { return shutDown; }

private:
  using Handler = Result<nlohmann::ordered_json> (Server::*)(JsonReader &params);

  Result<nlohmann::ordered_json> dispatch(JsonReader &request);
  Result<nlohmann::ordered_json> open(JsonReader &params);
  Result<nlohmann::ordered_json> ask(JsonReader &params);
  Result<nlohmann::ordered_json> tell(JsonReader &params);
  Result<nlohmann::ordered_json> front(JsonReader &params);
  Result<nlohmann::ordered_json> log(JsonReader &params);
  Result<nlohmann::ordered_json> shutdown(JsonReader &params);

  std::string archivePath;
  std::optional<Run> run;
  bool shutDown = false;
};

} // namespace conquer

#endif // CONQUER_SEARCH_SERVER_H
