//===- SessionSupport.h - what the parts of a session share -----------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_SESSIONSUPPORT_H
#define CONQUER_OPT_EVALUATOR_SESSIONSUPPORT_H

#include "conquer-opt/Evaluator/Session.h"

namespace conquer {

/// Progress of one stage.
inline Progress staged(const char *stage, const StageProgress &progress) {
  if (!progress)
    return {};
  return [=](int64_t done, int64_t total) { progress(stage, done, total); };
}

/// Threads' workspaces, made on first use.
class Workspaces {
public:
  Workspaces(const Plan &plan, int threads) : plan(plan), list(threads) {}
  Workspace &operator[](int thread) {
    if (!list[thread])
      list[thread] = std::make_unique<Workspace>(plan);
    return *list[thread];
  }

private:
  const Plan &plan;
  std::vector<std::unique_ptr<Workspace>> list;
};

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_SESSIONSUPPORT_H
