//===- PrecisionRules.cpp - which ops quantise together, and into what ------------------------===//

#include "conquer-opt/Transforms/PrecisionRules.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

using namespace mlir;

namespace conquer {

bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0)
    return false;
  if (op->getNumOperands() == 0)
    return op->hasTrait<OpTrait::ConstantLike>() || isa<tosa::ConstOp, tosa::ConstShapeOp>(op);
  return llvm::all_of(op->getOperands(), isConstant);
}

bool isActivationOp(Operation *op) {
  return isa_and_present<tosa::TosaDialect>(op->getDialect()) && op->getNumResults() == 1 &&
         !llvm::all_of(op->getOperands(), isConstant);
}

tosa::ClampOp getFusedClamp(Operation *op) {
  if ((!isLayer(op) && !isa<tosa::AddOp>(op)) || !op->getResult(0).hasOneUse())
    return {};
  return dyn_cast<tosa::ClampOp>(*op->getResult(0).user_begin());
}

bool isFusedClamp(Operation *op) {
  Operation *producer = isa<tosa::ClampOp>(op) ? op->getOperand(0).getDefiningOp() : nullptr;
  return producer && getFusedClamp(producer) == op;
}

Value getOutput(Operation *op) {
  tosa::ClampOp clamp = getFusedClamp(op);
  return clamp ? Value(clamp.getOutput()) : Value(op->getResult(0));
}

bool hasIntegerForm(Operation *op) {
  if (op->getNumResults() != 1 || !getElementTypeOrSelf(op->getResult(0)).isF32())
    return false;
  if (isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp>(op))
    return readConstant(op->getOperand(1)) && readConstant(op->getOperand(2));
  if (isa<tosa::AddOp, tosa::ConcatOp>(op))
    return llvm::none_of(op->getOperands(), isConstant);
  if (auto pad = dyn_cast<tosa::PadOp>(op))
    return readConstant(pad.getPadConst()).has_value();
  return isa<tosa::ClampOp, tosa::MaxPool2dOp, tosa::AvgPool2dOp, tosa::ReshapeOp, tosa::SliceOp,
             tosa::TransposeOp>(op);
}

bool hasHalfForm(Operation *op) {
  if (op->getNumResults() != 1 || !getElementTypeOrSelf(op->getResult(0)).isF32())
    return false;
  for (Value operand : op->getOperands())
    if (isConstant(operand) && getElementTypeOrSelf(operand).isF32() && !readConstant(operand))
      return false;
  if (isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp>(op))
    return isConstant(op->getOperand(1)) && isConstant(op->getOperand(2));
  return isa<tosa::AddOp, tosa::SubOp, tosa::MulOp, tosa::ClampOp, tosa::MaxPool2dOp,
             tosa::AvgPool2dOp, tosa::ConcatOp, tosa::PadOp, tosa::ReshapeOp, tosa::SliceOp,
             tosa::TransposeOp>(op);
}

std::optional<Precision> getPrecision(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>(precisionAttrName);
  return name ? parsePrecision(name.getValue()) : std::nullopt;
}

std::optional<std::vector<float>> readConstant(Value value) {
  auto constant = value.getDefiningOp<tosa::ConstOp>();
  if (!constant || !getElementTypeOrSelf(value).isF32())
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValues())) {
    auto elements = dense.getValues<float>();
    return std::vector<float>(elements.begin(), elements.end());
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValues());
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  std::vector<float> elements(cast<ShapedType>(value.getType()).getNumElements());
  if (!blob || blob->getData().size() != elements.size() * sizeof(float))
    return std::nullopt;
  std::memcpy(elements.data(), blob->getData().data(), blob->getData().size());
  return elements;
}

} // namespace conquer
