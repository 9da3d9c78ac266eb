//===- IreeDialects.h - IREE's dialects as opaque names ---------------------------------------===//
//
// The compiler hands IREE dispatches of external code without knowing IREE's dialects. They are
// registered here as dialects without ops, so that their ops, types and attributes can be built,
// parsed and printed unchecked, and so that no other unknown dialect slips through.
//
// Inherent attributes of these ops must be given as discardable ones: iree-compile reads both from
// text, but only those from bytecode.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_TRANSFORMS_IREEDIALECTS_H
#define CONQUER_OPT_TRANSFORMS_IREEDIALECTS_H

#include "mlir/IR/Dialect.h"
#include "mlir/IR/MLIRContext.h"

namespace conquer {

/// A dialect whose ops, types and attributes are not checked.
class OpaqueDialect : public mlir::Dialect {
public:
  /// Keeps the text, as MLIR itself does for unknown types.
  mlir::Attribute parseAttribute(mlir::DialectAsmParser &parser, mlir::Type type) const override;

protected:
  OpaqueDialect(llvm::StringRef name, mlir::MLIRContext *context, mlir::TypeID id)
      : Dialect(name, context, id) {
    allowUnknownOperations();
    allowUnknownTypes();
  }
};

// NOLINTBEGIN(bugprone-macro-parentheses): a class is named
#define CONQUER_OPAQUE_DIALECT(CLASS, NAME)                                                        \
  class CLASS : public OpaqueDialect {                                                             \
  public:                                                                                          \
    MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CLASS)                                            \
    explicit CLASS(mlir::MLIRContext *context)                                                     \
        : OpaqueDialect(getDialectNamespace(), context, mlir::TypeID::get<CLASS>()) {}             \
    static constexpr llvm::StringLiteral getDialectNamespace() { return NAME; }                    \
  };
CONQUER_OPAQUE_DIALECT(FlowDialect, "flow")
CONQUER_OPAQUE_DIALECT(HalDialect, "hal")
CONQUER_OPAQUE_DIALECT(StreamDialect, "stream")
CONQUER_OPAQUE_DIALECT(UtilDialect, "util")
#undef CONQUER_OPAQUE_DIALECT
// NOLINTEND(bugprone-macro-parentheses)

} // namespace conquer

#endif // CONQUER_OPT_TRANSFORMS_IREEDIALECTS_H
