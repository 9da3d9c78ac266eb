//===- Server.h - requests and answers in JSON ------------------------------------------------===//
//
// The protocol of docs/formats.md, "conquer-eval: JSON lines", on top of a Session.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_SERVER_H
#define CONQUER_OPT_EVALUATOR_SERVER_H

#include "conquer-opt/Evaluator/Session.h"
#include "support/JsonLines.h"

namespace conquer {

class Server {
public:
  /// `write` sends one line (without its end) to the client, for progress.
  Server(Session &session, std::function<void(const std::string &)> write);
  Server(const Server &) = delete; // its methods refer to it
  Server &operator=(const Server &) = delete;

  /// The answer to one request line. Never throws.
  std::string answer(std::string_view line) const { return answerJsonLine(line, methods); }
  /// Whether shutdown was asked for.
  bool isShutDown() const { return shutDown; }

private:
  JsonMethods methods;
  bool shutDown = false;
};

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_SERVER_H
