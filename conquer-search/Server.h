//===- Server.h - the JSON-lines protocol of conquer-search -----------------------------------===//
//
// One request per line, one answer per line (docs/formats.md, "conquer-search: JSON lines"). A
// mistake in a request is an error answer and changes nothing.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SEARCH_SERVER_H
#define CONQUER_SEARCH_SERVER_H

#include "conquer-search/Run.h"
#include "support/JsonLines.h"

namespace conquer {

class Server {
public:
  /// `archivePath` is opened by the first "open".
  explicit Server(std::string archivePath);
  Server(const Server &) = delete; // its methods refer to it
  Server &operator=(const Server &) = delete;

  /// The answer to one line, without a line break. Never throws; any text is allowed.
  std::string answer(std::string_view line) const { return answerJsonLine(line, methods); }
  /// Whether "shutdown" was asked.
  bool isShutDown() const { return shutDown; }

private:
  Result<nlohmann::ordered_json> open(JsonRequest &request);
  Result<nlohmann::ordered_json> ask(JsonRequest &request);
  Result<nlohmann::ordered_json> tell(JsonRequest &request);
  Result<nlohmann::ordered_json> front(JsonRequest &request);
  Result<nlohmann::ordered_json> log(JsonRequest &request);
  Result<nlohmann::ordered_json> shutdown(JsonRequest &request);

  JsonMethods methods;
  std::string archivePath;
  std::optional<Run> run;
  bool shutDown = false;
};

} // namespace conquer

#endif // CONQUER_SEARCH_SERVER_H
