//===- CollectLayers.cpp - layers, their geometry and edges -----------------------------------===//

#include "conquer-opt/Analysis/CollectLayers.h"

#include "conquer-opt/Analysis/PrecisionRules.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace conquer;

namespace {

std::vector<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape().vec();
}

int64_t product(ArrayRef<int64_t> values) {
  int64_t result = 1;
  for (int64_t value : values)
    result *= value;
  return result;
}

std::string join(ArrayRef<int64_t> values, char separator) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : std::string(1, separator)) + std::to_string(value);
  return text;
}

/// conv2d_28x28x1_k32x3x3_s1x1_d1x1_p1.1.1.1; a batch other than 1 comes first, as in conv2d_b8_...
std::string convSignature(const Layer &layer, ArrayRef<int64_t> kernel) {
  ArrayRef<int64_t> input(layer.inputShape);
  std::string text = layer.op;
  if (input.front() != 1)
    text += "_b" + std::to_string(input.front());
  return text + "_" + join(input.drop_front(), 'x') + "_k" + join(kernel, 'x') + "_s" +
         join(layer.stride, 'x') + "_d" + join(layer.dilation, 'x') + "_p" + join(layer.pad, '.');
}

/// Stride, dilation and pad of a convolution.
void describeWindow(Operation *op, Layer &layer) {
  layer.dilation = {1, 1};
  TypeSwitch<Operation *>(op)
      .Case<tosa::Conv2DOp, tosa::DepthwiseConv2DOp>([&](auto conv) {
        layer.stride = conv.getStride().vec();
        layer.dilation = conv.getDilation().vec();
        layer.pad = conv.getPad().vec();
      })
      .Case([&](tosa::TransposeConv2DOp conv) {
        layer.stride = conv.getStride().vec();
        layer.pad = conv.getOutPad().vec();
      });
}

void describeConv(Operation *op, Layer &layer) {
  describeWindow(op, layer);
  ArrayRef<int64_t> weight(layer.weightShape);
  // A transposed convolution spends its kernel on every input pixel, the others on every output.
  bool transposed = isa<tosa::TransposeConv2DOp>(op);
  ArrayRef<int64_t> pixels = transposed ? layer.inputShape : layer.outputShape;
  layer.macs = product(pixels.drop_back()) * product(weight);
  layer.weights = isConstant(op->getOperand(1)) ? product(weight) : 0;
  layer.signature = isa<tosa::DepthwiseConv2DOp>(op)
                        ? convSignature(layer, {weight[0], weight[1], weight[3]})
                        : convSignature(layer, weight.drop_back());
}

void describeMatMul(Operation *op, Layer &layer) {
  layer.weightShape.erase(layer.weightShape.begin());
  layer.stride = layer.dilation = {1, 1};
  layer.pad = {0, 0, 0, 0};
  layer.macs = product(layer.inputShape) * layer.weightShape[1];
  layer.weights = isConstant(op->getOperand(1)) ? product(shapeOf(op->getOperand(1))) : 0;
  layer.signature =
      "matmul_" + join(layer.inputShape, 'x') + "_k" + std::to_string(layer.weightShape[1]);
}

Layer describe(Operation *op, const Profile &profile) {
  Layer layer;
  layer.id = getId(op).str();
  layer.op = getLayerKind(op).str();
  layer.inputShape = shapeOf(op->getOperand(0));
  layer.weightShape = shapeOf(op->getOperand(1));
  layer.outputShape = shapeOf(op->getResult(0));
  if (isa<tosa::MatMulOp>(op))
    describeMatMul(op, layer);
  else
    describeConv(op, layer);
  layer.precisions = legalPrecisions(op, profile);
  return layer;
}

/// For every value, the layers and inputs that it comes from through ops without a policy.
class Sources {
public:
  explicit Sources(const Profile &targetProfile) : profile(targetProfile) {}

  Status addInput(Value value, StringAttr id, LayerList &list) {
    if (!id)
      return missing("an input of the network");
    sources[value].insert(id);
    list.inputs.push_back({id.str(), shapeOf(value)});
    return conquer::success();
  }

  Status addOp(Operation &op, LayerList &list) {
    if (!isLayer(&op)) {
      llvm::SetVector<StringAttr> all;
      for (Value operand : op.getOperands())
        if (auto it = sources.find(operand); it != sources.end())
          all.insert_range(it->second);
      for (Value result : op.getResults())
        sources[result] = all;
      return conquer::success();
    }
    auto id = op.getAttrOfType<StringAttr>(idAttrName);
    if (!id)
      return missing(op.getName().getStringRef().str());
    list.layers.push_back(describe(&op, profile));
    for (Value operand : op.getOperands().take_front(activationOperands(&op)))
      addEdges(operand, id, list);
    sources[op.getResult(0)].insert(id);
    return conquer::success();
  }

  Status addOutput(Value value, StringAttr id, LayerList &list) {
    if (!id)
      return missing("an output of the network");
    list.outputs.push_back({id.str(), shapeOf(value)});
    addEdges(value, id, list);
    return conquer::success();
  }

private:
  static Status missing(const std::string &what) {
    return Error{what + " has no conquer.id", "layer list", "prepared IR",
                 "run --conquer-prepare-pipeline"};
  }

  /// A reader that meets the same source twice (a matmul of a value with itself) has one edge.
  void addEdges(Value value, StringAttr reader, LayerList &list) {
    auto it = sources.find(value);
    if (it == sources.end())
      return;
    for (StringAttr source : it->second)
      if (seen.insert({source, reader}).second)
        list.edges.push_back({source.str(), reader.str(), product(shapeOf(value))});
  }

  const Profile &profile;
  llvm::DenseMap<Value, llvm::SetVector<StringAttr>> sources;
  llvm::DenseSet<std::pair<StringAttr, StringAttr>> seen;
};

} // namespace

unsigned conquer::activationOperands(Operation *layer) {
  return isa<tosa::MatMulOp>(layer) ? 2 : 1;
}

std::vector<Operation *> conquer::activationOps(func::FuncOp func) {
  std::vector<Operation *> ops;
  llvm::DenseSet<Value> activations;
  activations.insert_range(func.getArguments());
  for (Operation &op : func.front().without_terminator()) {
    if (llvm::none_of(op.getOperands(), [&](Value v) { return activations.contains(v); }))
      continue;
    activations.insert_range(op.getResults());
    ops.push_back(&op);
  }
  return ops;
}

Result<LayerList> conquer::collectLayers(func::FuncOp func, const Profile &profile) {
  LayerList list;
  Sources sources(profile);
  for (BlockArgument argument : func.getArguments()) {
    auto id = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), idAttrName);
    if (Status status = sources.addInput(argument, id, list); !status)
      return status.error();
  }
  for (Operation &op : func.front().without_terminator())
    if (Status status = sources.addOp(op, list); !status)
      return status.error();
  for (auto [index, value] : llvm::enumerate(func.front().getTerminator()->getOperands())) {
    auto id = func.getResultAttrOfType<StringAttr>(index, idAttrName);
    if (Status status = sources.addOutput(value, id, list); !status)
      return status.error();
  }
  return list;
}
