//===- Plan.h - a graph compiled to steps -----------------------------------------------------===//
//
// A plan is made once and run many times: steps in order, constants folded, buffers placed in one
// arena by lifetime. Plans are immutable, so threads share one and bring their own Workspace.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_PLAN_H
#define CONQUER_OPT_EVALUATOR_PLAN_H

#include "conquer-opt/Evaluator/Step.h"

namespace conquer {

/// What a plan computes.
struct PlanOptions {
  std::vector<int> given;  ///< values the caller supplies; empty: the graph's inputs
  std::vector<int> wanted; ///< values the caller reads afterwards; empty: the graph's outputs
  /// Every value keeps its buffer to the end of the run and none is fused away.
  bool keepAll = false;
  /// Values are observed as they are computed: none is fused away, buffers are still reused.
  bool observable = false;
};

class Plan;

/// The buffers of one thread.
class Workspace {
public:
  explicit Workspace(const Plan &plan);
  /// On a buffer of at least Plan::arenaBytes, which several workspaces may share if they run one
  /// after the other.
  Workspace(const Plan &plan, Buffer arena);
  /// A value after a run: wanted ones, all with keepAll.
  const void *value(int index) const { return pointers[index]; }
  template <typename T> const T *as(int index) const {
    return static_cast<const T *>(pointers[index]);
  }

private:
  friend class Plan;
  Buffer arena;
  std::vector<void *> pointers; ///< by value index; constants and arena set once
};

class Plan {
public:
  using Observer = std::function<void(int value, const void *data)>;

  /// Resolves every node that the wanted values need. The graph must have been hashed.
  static Result<Plan> create(std::shared_ptr<const Graph> graph, const cq_level &level,
                             PackCache &packs, const PlanOptions &options);

  /// Runs on given values (in the order of PlanOptions::given). `observer`, if set, is called for
  /// every given value and every value computed, right after its step.
  void run(const std::vector<const void *> &given, Workspace &workspace,
           const Observer &observer = {}) const;

  const Graph &graph() const { return *source; }
  const std::vector<int> &given() const { return options.given; }
  const std::vector<int> &wanted() const { return options.wanted; }
  size_t arenaBytes() const { return arenaSize; }
  size_t steps() const { return entries.size(); }

private:
  friend class Workspace;
  struct Entry {
    Step step;
    std::vector<int> inputs, outputs;
    size_t scratch = 0; ///< offset in the arena
  };
  /// Where a value is at run time.
  struct Place {
    enum Kind { None, Constant, Given, Arena, Alias } kind = None;
    size_t offset = 0; ///< Arena
    int target = -1;   ///< Alias: the value that holds the elements
    std::shared_ptr<const Buffer> constant;
  };
  class Builder;

  std::shared_ptr<const Graph> source;
  PlanOptions options;
  std::vector<Entry> entries;
  std::vector<Place> places;
  std::vector<std::vector<int>> renames; ///< by value: the values that are other shapes of it
  size_t arenaSize = 0;
};

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_PLAN_H
