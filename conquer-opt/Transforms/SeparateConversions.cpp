//===- SeparateConversions.cpp - keep IREE from recomputing conversions -----------------------===//
//
// IREE clones a conversion from i8, bf16 or f16 to f32 into the dispatch of each reader. A reader
// that uses an element many times, or only a part of the tensor, then converts the whole tensor on
// its stack: slow, and beyond 32 KiB an error of iree-compile.
//
//===----------------------------------------------------------------------------------------===//

#include "conquer-opt/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_SEPARATECONVERSIONS
#include "conquer-opt/Transforms/Passes.h.inc"
} // namespace conquer

namespace {

/// Is `op` a cast from bf16 or f16 to f32, or the last of (cast i8 -> i32, sub zero point, cast to
/// f32, mul scale)? The subtraction is missing where the zero point is 0.
bool widens(Operation *op) {
  if (auto cast = dyn_cast<tosa::CastOp>(op)) {
    Type from = getElementTypeOrSelf(cast.getInput());
    return getElementTypeOrSelf(cast.getType()).isF32() && (from.isBF16() || from.isF16());
  }
  auto mul = dyn_cast<tosa::MulOp>(op);
  auto toFloat = mul ? mul.getInput1().getDefiningOp<tosa::CastOp>() : tosa::CastOp();
  if (!toFloat || !getElementTypeOrSelf(toFloat.getType()).isF32())
    return false;
  Value integer = toFloat.getInput();
  if (auto sub = integer.getDefiningOp<tosa::SubOp>())
    integer = sub.getInput1();
  auto widened = integer.getDefiningOp<tosa::CastOp>();
  Value source = widened ? widened.getInput() : integer;
  return getElementTypeOrSelf(source.getType()).isSignlessInteger(8);
}

/// Does `op` use elements of its operand more than once, or only some of them?
bool readsUnevenly(Operation *op) {
  return isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp, tosa::MatMulOp,
             tosa::AvgPool2dOp, tosa::MaxPool2dOp, tosa::PadOp, tosa::SliceOp>(op);
}

struct SeparateConversions : conquer::impl::SeparateConversionsBase<SeparateConversions> {
  using SeparateConversionsBase::SeparateConversionsBase;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (!widens(op) || llvm::none_of(op->getUsers(), readsUnevenly))
        return;
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      OperationState state(op->getLoc(), "util.optimization_barrier", op->getResults(),
                           op->getResultTypes());
      Operation *barrier = builder.create(state);
      op->getResult(0).replaceUsesWithIf(
          barrier->getResult(0), [](OpOperand &use) { return readsUnevenly(use.getOwner()); });
    });
  }
};

} // namespace
