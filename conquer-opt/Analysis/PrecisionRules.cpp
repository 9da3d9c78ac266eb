//===- PrecisionRules.cpp - which ops quantise together, and into what ------------------------===//

#include "conquer-opt/Analysis/PrecisionRules.h"

#include "support/HalfFloat.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cmath>
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

namespace {

/// Whether each constant operand stays finite when rounded to f16.
bool fitsF16(Operation *layer) {
  return llvm::all_of(layer->getOperands(), [](Value operand) {
    std::optional<std::vector<float>> values = readConstant(operand);
    return !values || llvm::all_of(*values, [](float value) {
      return std::isfinite(f16ToFloat(floatToF16(value)));
    });
  });
}

bool canRunIn(Operation *layer, Precision precision, const Profile &profile) {
  switch (precision) {
  case Precision::F32:
    return true;
  case Precision::BF16:
    return hasHalfForm(layer);
  case Precision::F16:
    return hasHalfForm(layer) && fitsF16(layer);
  case Precision::I8:
    return hasIntegerForm(layer);
  case Precision::W4A8: {
    // The kernels of depthwise convolutions have one filter per channel, and IREE no i4 of its own.
    auto depthwise = dyn_cast<tosa::DepthwiseConv2DOp>(layer);
    bool kernel = !depthwise || depthwise.getWeight().getType().getDimSize(3) == 1;
    return hasIntegerForm(layer) &&
           (kernel || !profile.usesKernel(getLayerKind(layer).str(), precision));
  }
  case Precision::W8A16:
    return false; // has no form yet
  }
  return false;
}

} // namespace

std::vector<Precision> legalPrecisions(Operation *layer, const Profile &profile) {
  std::vector<Precision> legal = profile.precisionsOf(getLayerKind(layer).str());
  llvm::erase_if(legal, [&](Precision p) { return !canRunIn(layer, p, profile); });
  return legal;
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
