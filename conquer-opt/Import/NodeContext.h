//===- NodeContext.h - what the conversion of one ONNX node sees ------------------------------===//
//
// The node, its inputs as Values, and where its outputs go; the functions that convert the
// operators, one each; and the rules every node is checked against before its function is called.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_IMPORT_NODECONTEXT_H
#define CONQUER_OPT_IMPORT_NODECONTEXT_H

#include "conquer-opt/Import/Emitter.h"

#include <optional>

namespace conquer::importer {

struct NodeContext {
  const Model &model;
  const Node &node;
  Emitter &emit;
  std::map<std::string, Value> &values;
  /// How often each value is read, graph outputs included.
  const std::map<std::string, int64_t> &uses;

  int64_t opset() const { return model.opset; }
  /// "model.onnx: node '/conv1/Conv' (Conv)"
  std::string where() const;
  Error error(std::string what, std::string expected = "", std::string fix = "") const;

  bool hasInput(size_t index) const;
  /// An input that is present. Inputs are known to exist before the node's function runs.
  const Value &input(size_t index) const { return values.at(node.inputs[index]); }
  /// The constant of an input, or null if the input is absent or computed.
  const Tensor *constant(size_t index) const;
  /// An optional input that must be a constant if present: null where it is absent.
  Result<const Tensor *> optionalConstant(size_t index) const;
  /// Integers that older operator sets have as an attribute and newer ones as a constant input;
  /// empty optional where neither is given.
  Result<std::optional<std::vector<int64_t>>> integers(size_t index,
                                                       const std::string &attribute) const;
  /// Axes in 0 .. rank-1, each once.
  Result<std::vector<int64_t>> axes(const std::vector<int64_t> &axes, int64_t rank) const;
  Result<int64_t> axis(int64_t axis, int64_t rank) const;

  Status output(Value value) const { return output(0, std::move(value)); }
  /// Defines an output; an error if its size is out of range.
  Status output(size_t index, Value value) const;
};

struct OpRule {
  Status (*convert)(const NodeContext &);
  size_t minInputs, maxInputs, maxOutputs;
  std::map<std::string, Attribute::Kind> attributes;
};

/// The rules by operator name.
const std::map<std::string, OpRule> &opRules();

// One function per operator. Each emits the node's ops and defines its outputs.
Status convertConv(const NodeContext &);
Status convertMaxPool(const NodeContext &);
Status convertAveragePool(const NodeContext &);
Status convertGlobalAveragePool(const NodeContext &);
Status convertGlobalMaxPool(const NodeContext &);
Status convertBatchNormalization(const NodeContext &);
Status convertSoftmax(const NodeContext &);
Status convertReduceMean(const NodeContext &);
Status convertRelu(const NodeContext &);
Status convertClip(const NodeContext &);
Status convertSigmoid(const NodeContext &);
Status convertHardSigmoid(const NodeContext &);
Status convertHardSwish(const NodeContext &);
Status convertLeakyRelu(const NodeContext &);
Status convertPRelu(const NodeContext &);
Status convertTanh(const NodeContext &);
Status convertAdd(const NodeContext &);
Status convertSub(const NodeContext &);
Status convertMul(const NodeContext &);
Status convertDiv(const NodeContext &);
Status convertMax(const NodeContext &);
Status convertMin(const NodeContext &);
Status convertIdentity(const NodeContext &);
Status convertConstant(const NodeContext &);
Status convertPad(const NodeContext &);
Status convertFlatten(const NodeContext &);
Status convertReshape(const NodeContext &);
Status convertSqueeze(const NodeContext &);
Status convertUnsqueeze(const NodeContext &);
Status convertTranspose(const NodeContext &);
Status convertConcat(const NodeContext &);
Status convertSplit(const NodeContext &);
Status convertSlice(const NodeContext &);
Status convertGemm(const NodeContext &);
Status convertMatMul(const NodeContext &);

} // namespace conquer::importer

#endif // CONQUER_OPT_IMPORT_NODECONTEXT_H
