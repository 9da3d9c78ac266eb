//===- HalfStep.cpp - operations on bf16 and f16 ----------------------------------------------===//
//
// An operation on bf16 or f16 is its f32 operation on the widened operands with its result rounded
// once: a convolution is an f32 sum in the order of the f32 kernels, plus bias, one rounding.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Evaluator/HalfValues.h"
#include "conquer-opt/Evaluator/Step.h"

using namespace conquer;

namespace {

size_t alignUp(size_t bytes) { return (bytes + 63) / 64 * 64 + 64; }

/// An operand or result that is converted around the f32 step.
struct Converted {
  size_t index;  ///< of the operand or result
  size_t offset; ///< of its f32 elements in the scratch buffer
  int64_t count;
  ElementType type;
};

/// The f32 step and what surrounds it.
struct HalfStep {
  Step inner;
  size_t innerScratch = 0; ///< offset of the f32 step's scratch
  std::vector<Converted> inputs, outputs;
  std::vector<std::shared_ptr<const Buffer>> constants; ///< by operand; null where not converted

  void run(const Operands &operands) const {
    std::vector<const void *> in(operands.inputs, operands.inputs + constants.size());
    for (size_t i = 0; i < constants.size(); ++i)
      if (constants[i])
        in[i] = constants[i]->data();
    for (const Converted &input : inputs) {
      widenHalves(input.type, in[input.index], operands.scratch + input.offset, input.count);
      in[input.index] = operands.scratch + input.offset;
    }
    // One result is the rule; those of a type other than half are written in place.
    std::vector<void *> out = {operands.outputs[0]};
    for (const Converted &output : outputs)
      out[output.index] = operands.scratch + output.offset;
    inner.run({in.data(), out.data(), operands.scratch + innerScratch});
    for (const Converted &output : outputs)
      roundToHalves(output.type, out[output.index], operands.outputs[output.index], output.count);
  }
};

/// A half value as f32: constants are widened, and hash as something else.
Value widened(const Value &value) {
  Value wide = value;
  wide.type = ElementType::F32;
  wide.hash = hashBytes("widened", 7, value.hash);
  if (value.constant) {
    Buffer buffer(wide.bytes());
    widenHalves(value.type, value.constant->data(), buffer.data(), value.elements());
    wide.constant = std::make_shared<const Buffer>(std::move(buffer));
  }
  return wide;
}

} // namespace

bool conquer::takesHalf(const NodeView &view) {
  auto half = [](const Value &value) { return isHalf(value.type); };
  for (size_t i = 0; i < view.numInputs(); ++i)
    if (half(view.in(static_cast<int>(i))))
      return true;
  for (size_t i = 0; i < view.numOutputs(); ++i)
    if (half(view.out(static_cast<int>(i))))
      return true;
  return false;
}

Result<Step> conquer::makeHalfStep(const NodeView &view, StepMaker maker) {
  if (view.numOutputs() != 1)
    return view.unsupported();
  HalfStep half;
  half.constants.resize(view.numInputs());
  size_t scratch = 0;
  Graph graph;
  Node node = view.describe();
  auto add = [&](const Value &value, size_t index, std::vector<Converted> &converted) {
    Value wide = isHalf(value.type) ? widened(value) : value;
    if (isHalf(value.type) && !wide.constant) {
      converted.push_back({index, scratch, value.elements(), value.type});
      scratch += alignUp(wide.bytes());
    }
    graph.values.push_back(std::move(wide));
    return static_cast<int>(graph.values.size()) - 1;
  };
  for (size_t i = 0; i < view.numInputs(); ++i) {
    const Value &value = view.in(static_cast<int>(i));
    node.inputs[i] = add(value, i, half.inputs);
    if (isHalf(value.type))
      half.constants[i] = graph.values[node.inputs[i]].constant;
  }
  node.outputs[0] = add(view.out(), 0, half.outputs);
  NodeView wide(graph, node, view.level, view.packs);
  Result<Step> inner = maker(wide);
  if (!inner)
    return inner.error();
  half.inner = std::move(*inner);
  half.innerScratch = scratch;
  scratch += half.inner.scratchBytes;
  return Step{[half = std::move(half)](const Operands &operands) { half.run(operands); }, scratch};
}
