//===- ValueForms.cpp - the values of a network in the forms that its layers read -------------===//

#include "conquer-opt/Transforms/ValueForms.h"

#include "conquer-opt/IR/Conquer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace conquer {

namespace {

/// The conquer.id of a value: its op's, or its function argument's.
StringRef idOf(Value value) {
  if (Operation *op = value.getDefiningOp())
    return getId(op);
  auto argument = cast<BlockArgument>(value);
  auto owner = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto id = owner ? owner.getArgAttrOfType<StringAttr>(argument.getArgNumber(), idAttrName)
                  : StringAttr();
  return id ? id.getValue() : StringRef();
}

/// The form of an element type that a value of the network can have.
Precision formOf(Value value) {
  Type element = getElementTypeOrSelf(value);
  if (element.isBF16())
    return Precision::BF16;
  if (element.isF16())
    return Precision::F16;
  return element.isInteger(8) ? Precision::I8 : Precision::F32;
}

/// What converts a value goes behind it. The constants that it needs are at the beginning of the
/// block (QuantizeEmitter), so a function argument is converted behind those.
void setInsertionPointBehind(OpBuilder &builder, Value value) {
  if (value.getDefiningOp())
    return builder.setInsertionPointAfterValue(value);
  Block *block = value.getParentBlock();
  auto first =
      llvm::find_if_not(*block, [](Operation &op) { return op.hasTrait<OpTrait::ConstantLike>(); });
  builder.setInsertionPoint(block, first);
}

void setParams(Value codes, AffineParams params) {
  Operation *op = codes.getDefiningOp();
  Builder builder(op->getContext());
  op->setAttr(scaleAttrName, builder.getF32FloatAttr(params.scale));
  op->setAttr(zeroPointAttrName, builder.getI32IntegerAttr(params.zeroPoint));
}

} // namespace

ValueForms::Entry &ValueForms::lookup(Value original) {
  auto [entry, isNew] = entries.try_emplace(original);
  if (isNew)
    entry->second.values[precisionIndex(formOf(original))] = original;
  return entry->second;
}

void ValueForms::define(Value original, Value replacement, AffineParams params) {
  Operation *last = replacement.getDefiningOp();
  for (StringRef name : {StringRef(idAttrName), StringRef(precisionAttrName)})
    if (Attribute value = original.getDefiningOp()->getAttr(name))
      last->setAttr(name, value);
  Entry entry;
  Precision form = formOf(replacement);
  entry.values[precisionIndex(form)] = replacement;
  entry.params = params;
  entries[original] = entry;
  if (form == Precision::I8)
    setParams(replacement, params);
}

FailureOr<AffineParams> ValueForms::getParams(Value original) {
  StringRef id = idOf(original);
  Location loc = original.getLoc();
  if (id.empty())
    return mlir::emitError(loc, "activation without a conquer.id, expected prepared IR");
  auto range = inputs.calibration.ranges.find(id.str());
  if (range == inputs.calibration.ranges.end())
    return mlir::emitError(loc) << inputs.calibrationName << ": ranges: no range for '" << id
                                << "'; expected one for every activation; calibrate this network";
  if (Status status = checkRange(id.str(), range->second, inputs.calibrationName); !status)
    return mlir::emitError(loc) << status.error().message();
  return affineFromRange(range->second.min, range->second.max);
}

Value ValueForms::get(Value original, Precision form) {
  Entry &entry = lookup(original);
  Value &known = entry.values[precisionIndex(form)];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  QuantizeEmitter emitter(builder, original.getLoc(), constants);
  if (form != Precision::F32) {
    Value real = get(original, Precision::F32);
    setInsertionPointBehind(builder, real);
    ++conversions.round;
    return known = emitter.convert(real, Precision::F32, form, {});
  }
  // A value has one form to begin with; it is not f32 here.
  for (Precision from : {Precision::I8, Precision::BF16, Precision::F16}) {
    Value source = entry.values[precisionIndex(from)];
    if (!source)
      continue;
    setInsertionPointBehind(builder, source);
    ++(from == Precision::I8 ? conversions.dequantize : conversions.widen);
    return known = emitter.convert(source, from, Precision::F32, entry.params);
  }
  llvm_unreachable("a value without any form");
}

FailureOr<Codes> ValueForms::getCodes(Value original) {
  Entry &entry = lookup(original);
  Value &known = entry.values[precisionIndex(Precision::I8)];
  if (known)
    return Codes{known, entry.params};
  FailureOr<AffineParams> params = getParams(original);
  if (failed(params))
    return failure();
  Value real = get(original, Precision::F32);
  OpBuilder::InsertionGuard guard(builder);
  setInsertionPointBehind(builder, real);
  QuantizeEmitter emitter(builder, original.getLoc(), constants);
  known = emitter.convert(real, Precision::F32, Precision::I8, *params);
  entry.params = *params;
  setParams(known, *params);
  ++conversions.quantize;
  return Codes{known, *params};
}

} // namespace conquer
