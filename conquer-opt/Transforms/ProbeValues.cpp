//===- ProbeValues.cpp - main returns every activation ----------------------------------------===//

#include "conquer-opt/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_PROBEVALUES
#include "conquer-opt/Transforms/Passes.h.inc"
} // namespace conquer

namespace {

bool isActivation(Value value) {
  Operation *producer = value.getDefiningOp();
  return isa<RankedTensorType>(value.getType()) &&
         !(producer && producer->hasTrait<OpTrait::ConstantLike>());
}

/// The values to return, in order of appearance.
llvm::SetVector<Value> collectValues(func::FuncOp function) {
  llvm::SetVector<Value> values;
  values.insert(function.getArguments().begin(), function.getArguments().end());
  for (Operation &op : function.getBody().front()) {
    bool isFused = isa_and_nonnull<conquer::ConquerDialect>(op.getDialect());
    if (!isFused && conquer::getId(&op).empty())
      continue;
    for (Value operand : op.getOperands())
      if (isActivation(operand) && (isFused || getElementTypeOrSelf(operand).isSignlessInteger(8)))
        values.insert(operand);
    for (Value result : op.getResults())
      if (isActivation(result))
        values.insert(result);
  }
  return values;
}

struct ProbeValues : conquer::impl::ProbeValuesBase<ProbeValues> {
  using ProbeValuesBase::ProbeValuesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.getName() != "main" || function.isExternal())
      return;
    Builder builder(&getContext());
    Operation *terminator = function.getBody().front().getTerminator();
    for (Value value : collectValues(function)) {
      unsigned index = function.getNumResults();
      SmallVector<NamedAttribute> attributes = {
          builder.getNamedAttr("conquer.value", builder.getI32IntegerAttr(index))};
      if (StringAttr id = idOf(function, value))
        attributes.push_back(builder.getNamedAttr(conquer::idAttrName, id));
      if (failed(
              function.insertResult(index, value.getType(), builder.getDictionaryAttr(attributes))))
        return signalPassFailure();
      terminator->insertOperands(index, value);
    }
  }

private:
  static StringAttr idOf(func::FuncOp function, Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), conquer::idAttrName);
    return value.getDefiningOp()->getAttrOfType<StringAttr>(conquer::idAttrName);
  }
};

} // namespace
