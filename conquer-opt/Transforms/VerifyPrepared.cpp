//===- VerifyPrepared.cpp - the contract at the end of the prepare stage ----------------------===//

#include "conquer-opt/Analysis/CollectLayers.h"
#include "conquer-opt/Transforms/Checks.h"
#include "conquer-opt/Transforms/Layout.h"
#include "conquer-opt/Transforms/Passes.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_VERIFYPREPAREDPASS
#include "conquer-opt/Transforms/Passes.h.inc"

namespace {

LogicalResult checkId(Location loc, StringAttr id, const Twine &what, llvm::StringSet<> &seen) {
  if (!id || id.getValue().empty())
    return emitError(loc, what + " has no conquer.id");
  if (!seen.insert(id.getValue()).second)
    return emitError(loc, what + " has the conquer.id '" + id.getValue() +
                              "', which an earlier one has; expected unique ids");
  return mlir::success();
}

LogicalResult checkIds(func::FuncOp func, ArrayRef<Operation *> ops) {
  llvm::StringSet<> seen;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (failed(checkId(func.getArgument(i).getLoc(),
                       func.getArgAttrOfType<StringAttr>(i, idAttrName), "input " + Twine(i),
                       seen)))
      return failure();
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (failed(checkId(func.getLoc(), func.getResultAttrOfType<StringAttr>(i, idAttrName),
                       "output " + Twine(i), seen)))
      return failure();
  for (Operation *op : ops)
    if (failed(checkId(op->getLoc(), op->getAttrOfType<StringAttr>(idAttrName),
                       op->getName().getStringRef(), seen)))
      return failure();
  return mlir::success();
}

/// Weights and bias of a convolution can be quantised only if they are there.
LogicalResult checkLayer(Operation *op) {
  for (Value operand : op->getOperands().drop_front(activationOperands(op))) {
    DenseElementsAttr values;
    if (!matchPattern(operand, m_Constant(&values)))
      return op->emitError("the weights, bias or zero points of layer '")
             << getId(op) << "' are computed, expected constants";
    if (!values.getElementType().isF32())
      return op->emitError("layer '")
             << getId(op) << "' has operands of type " << values.getType() << ", expected f32";
  }
  return mlir::success();
}

bool readsImages(Operation *op) {
  return isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp, tosa::MaxPool2dOp,
             tosa::AvgPool2dOp, tosa::ResizeOp>(op);
}

/// Between N, H, W, C and N, C, H, W, in either direction.
bool changesLayout(tosa::TransposeOp op) {
  ArrayRef<int32_t> permutation = op.getPerms();
  return permutation == ArrayRef<int32_t>{0, 3, 1, 2} ||
         permutation == ArrayRef<int32_t>{0, 2, 3, 1};
}

/// Two in a row are a mistake of ours. A change of layout inside is right but slow, and may be what
/// the network asks for; other transposes are computation (a channel shuffle, attention).
LogicalResult checkTranspose(tosa::TransposeOp op) {
  Operation *producer = op.getInput1().getDefiningOp();
  if (isa_and_nonnull<tosa::TransposeOp>(producer))
    return op.emitError("transpose of a transpose, expected one");
  if (!changesLayout(op) || !producer || isInput(op.getInput1()) ||
      (!readsImages(producer) && getPermutableOperands(producer) == 0))
    return mlir::success();
  if (llvm::any_of(op->getUsers(), readsImages))
    op.emitWarning("an image changes its layout between two ops that read N, H, W, C; this costs "
                   "time");
  return mlir::success();
}

struct VerifyPreparedPass : impl::VerifyPreparedPassBase<VerifyPreparedPass> {
  void runOnOperation() override {
    if (failed(verify()))
      signalPassFailure();
    markAllAnalysesPreserved();
  }

  LogicalResult verify() {
    if (failed(checkFloatNetwork(getOperation())))
      return failure();
    func::FuncOp func = getNetwork(getOperation());
    std::vector<Operation *> ops = activationOps(func);
    if (failed(checkIds(func, ops)))
      return failure();
    for (Operation *op : ops) {
      auto transpose = dyn_cast<tosa::TransposeOp>(op);
      if ((isLayer(op) && failed(checkLayer(op))) ||
          (transpose && failed(checkTranspose(transpose))))
        return failure();
    }
    return mlir::success();
  }
};

} // namespace
} // namespace conquer
