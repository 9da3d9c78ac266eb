//===- Server.h - requests and answers in JSON ------------------------------------------------===//
//
// The protocol of docs/formats.md, "conquer-eval: JSON lines", on top of a Session.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_SERVER_H
#define CONQUER_OPT_EVALUATOR_SERVER_H

#include "conquer-opt/Evaluator/Session.h"

#include <functional>
#include <string>

namespace conquer {

class Server {
public:
  /// `write` sends one line (without its end) to the client, for progress.
  Server(Session &session, std::function<void(const std::string &)> write)
      : session(session), write(std::move(write)) {}

  /// The answer to one request line. Never throws.
  std::string answer(const std::string &line);
  /// Whether shutdown was asked for.
  bool isShutDown() const { return shutDown; }

private:
  Session &session;
  std::function<void(const std::string &)> write;
  bool shutDown = false;
};

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_SERVER_H
