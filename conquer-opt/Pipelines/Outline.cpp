//===- Outline.cpp - one layer of a network as a function of its own --------------------------===//

#include "conquer-opt/Pipelines/Outline.h"

#include "conquer-opt/Analysis/CollectLayers.h"
#include "conquer-opt/IR/Conquer.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace {

/// The ops from the layer to the one whose result stands for its value: as long as a result has a
/// single reader, up to the op with the id, and a clamp behind that.
SmallVector<Operation *> chainOf(Operation *layer) {
  SmallVector<Operation *> chain = {layer};
  while (chain.back()->hasOneUse()) {
    Operation *next = *chain.back()->getUsers().begin();
    if (!conquer::getId(chain.back()).empty() && !isa<tosa::ClampOp>(next))
      break;
    if (next->hasTrait<OpTrait::IsTerminator>())
      break;
    chain.push_back(next);
  }
  return chain;
}

/// Copies the constants that `op` reads, and what they are computed from, unless they have been.
LogicalResult copyConstants(Operation *op, OpBuilder &builder, IRMapping &mapping) {
  for (Value operand : op->getOperands()) {
    if (mapping.contains(operand))
      continue;
    Operation *producer = operand.getDefiningOp();
    if (!producer || conquer::isLayer(producer))
      return op->emitError("reads an activation besides its input, so it cannot be timed alone");
    if (failed(copyConstants(producer, builder, mapping)))
      return failure();
    builder.clone(*producer, mapping);
  }
  return success();
}

} // namespace

Operation *conquer::findLayer(func::FuncOp function, StringRef layerId) {
  for (Operation &op : function.getBody().front()) {
    auto layer = op.getAttrOfType<StringAttr>(layerAttrName);
    if (isLayer(&op) && (layer ? layer.getValue() : getId(&op)) == layerId)
      return &op;
  }
  return nullptr;
}

FailureOr<func::FuncOp> conquer::outlineLayer(ModuleOp module, Operation *layer, StringRef name) {
  SmallVector<Operation *> chain = chainOf(layer);
  ValueRange inputs = layer->getOperands().take_front(activationOperands(layer));
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto type = builder.getFunctionType(inputs.getTypes(), chain.back()->getResultTypes());
  auto function = func::FuncOp::create(builder, layer->getLoc(), name, type);
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  mapping.map(inputs, function.getArguments());
  for (Operation *op : chain) {
    if (failed(copyConstants(op, builder, mapping)))
      return failure();
    builder.clone(*op, mapping);
  }
  func::ReturnOp::create(builder, layer->getLoc(), mapping.lookup(chain.back()->getResult(0)));
  return function;
}
