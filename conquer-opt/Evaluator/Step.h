//===- Step.h - one operation, ready to run ---------------------------------------------------===//
//
// A plan resolves every node to a Step once: attributes read, constants bound, weights packed. The
// step then runs per image on raw buffers. Makers check everything a run relies on and return an
// Error for what they cannot run; steps themselves cannot fail.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_STEP_H
#define CONQUER_OPT_EVALUATOR_STEP_H

#include "conquer-opt/Evaluator/Graph.h"
#include "conquer-opt/kernels/cq_kernels.h"

#include <functional>
#include <limits>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace conquer {

/// The buffers of one run of one step.
struct Operands {
  const void *const *inputs; ///< by operand number
  void *const *outputs;      ///< by result number
  char *scratch;             ///< Step::scratchBytes, aligned to 64
  template <typename T> const T *in(int i) const { return static_cast<const T *>(inputs[i]); }
  template <typename T> T *out(int i = 0) const { return static_cast<T *>(outputs[i]); }
};

struct Step {
  std::function<void(const Operands &)> run;
  size_t scratchBytes = 0;
};

/// Packed weights shared by all plans of one network. Safe to use from several threads.
class PackCache {
public:
  /// The buffer kept for `key`, made by `make` on first use.
  std::shared_ptr<const Buffer> get(uint64_t key, const std::function<Buffer()> &make);
  size_t bytes() const;
  void clear();

private:
  mutable std::mutex mutex;
  std::unordered_map<uint64_t, std::shared_ptr<const Buffer>> buffers;
};

/// What a maker may look at.
class NodeView {
public:
  NodeView(const Graph &graph, const Node &node, const cq_level &level, PackCache &packs)
      : level(level), packs(packs), graph(graph), node(node) {}

  const cq_level &level;
  PackCache &packs;
  /// Bounds of a clamp that the plan folded into this convolution.
  float clampMin = -std::numeric_limits<float>::infinity();
  float clampMax = std::numeric_limits<float>::infinity();

  size_t numInputs() const { return node.inputs.size(); }
  size_t numOutputs() const { return node.outputs.size(); }
  const Value &in(int i) const { return graph.values[node.inputs[i]]; }
  const Value &out(int i = 0) const { return graph.values[node.outputs[i]]; }
  const std::string &op() const { return node.op; }
  /// A copy of the node itself.
  Node describe() const { return node; }

  /// Attributes; the fallback stands for one that is absent or of another kind.
  int64_t integer(const std::string &name, int64_t fallback = 0) const;
  double number(const std::string &name, double fallback = 0) const;
  std::string text(const std::string &name, const std::string &fallback = "") const;
  std::vector<int64_t> integers(const std::string &name) const;
  /// nan_mode is IGNORE rather than PROPAGATE.
  bool ignoresNan() const { return text("nan_mode") == "IGNORE"; }

  /// The integer elements of a constant operand, or nothing if it is not constant.
  Result<std::vector<int64_t>> constantIntegers(int i) const;
  /// The single element of a constant integer operand (a zero point, a shift); 0 for float
  /// operands.
  Result<int64_t> constantInteger(int i) const;

  /// An Error about this node.
  Error error(const std::string &what, std::string expected = "") const;
  /// Error for an operation or element type that has no step.
  Error unsupported() const;
  /// Checks the number of operands and results.
  Status expect(size_t inputs, size_t outputs = 1) const;

private:
  const Graph &graph;
  const Node &node;
};

using StepMaker = Result<Step> (*)(const NodeView &);

/// The step of an operation, or an Error that names the operation nobody knows. Reshape-like
/// operations and constants have none: plans alias them.
Result<Step> makeStep(const NodeView &view);

/// Whether an operand or the result is bf16 or f16.
bool takesHalf(const NodeView &view);
/// The step of an operation on bf16 or f16 from the maker of its f32 form.
Result<Step> makeHalfStep(const NodeView &view, StepMaker maker);

// The makers of each family, one file each; null for an operation of another family.
StepMaker findConvolution(std::string_view op);
StepMaker findPooling(std::string_view op);
StepMaker findBinary(std::string_view op);
StepMaker findUnary(std::string_view op);
StepMaker findConvert(std::string_view op);
StepMaker findLayout(std::string_view op);
StepMaker findReduce(std::string_view op);
StepMaker findResize(std::string_view op);

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_STEP_H
