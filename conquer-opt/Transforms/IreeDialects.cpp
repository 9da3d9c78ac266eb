//===- IreeDialects.cpp - IREE's dialects as opaque names -------------------------------------===//

#include "conquer-opt/Transforms/IreeDialects.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

Attribute conquer::OpaqueDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  return OpaqueAttr::get(StringAttr::get(getContext(), getNamespace()), parser.getFullSymbolSpec(),
                         type ? type : NoneType::get(getContext()));
}
