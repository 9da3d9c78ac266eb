//===- Layout.h - permutations of dimensions --------------------------------------------------===//
#ifndef CONQUER_OPT_TRANSFORMS_LAYOUT_H
#define CONQUER_OPT_TRANSFORMS_LAYOUT_H

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/PatternMatch.h"

namespace conquer {

/// As in tosa.transpose: dimension i of the result is dimension permutation[i] of the operand.
using Permutation = llvm::SmallVector<int32_t>;

Permutation inverse(llvm::ArrayRef<int32_t> permutation);
/// The permutation of transpose(transpose(x, first), second).
Permutation compose(llvm::ArrayRef<int32_t> first, llvm::ArrayRef<int32_t> second);
llvm::SmallVector<int64_t> permuted(llvm::ArrayRef<int64_t> shape,
                                    llvm::ArrayRef<int32_t> permutation);
/// Whether only dimensions of size 1 change their place, so that the transpose moves nothing.
bool movesNothing(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int32_t> permutation);

/// The value transposed: a transpose of what a transpose before it reads, or that itself.
mlir::Value createTranspose(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                            llvm::ArrayRef<int32_t> permutation);

/// How many leading operands carry the data of an op that means the same in every order of
/// dimensions once its axes are renamed (elementwise, concat, pad, slice, reductions, ...); 0 for
/// every other op.
unsigned getPermutableOperands(mlir::Operation *op);

/// Whether the value is an argument of the function, or a reshape of one.
bool isInput(mlir::Value value);

/// Patterns that make transposes fewer where they stand: two in a row, and one before a fully
/// connected layer, whose weights are reordered instead.
void populateSimplifyTransposes(mlir::RewritePatternSet &patterns);
/// Two transposes around a reshape -> at most one.
void populateMergeTransposes(mlir::RewritePatternSet &patterns);
/// The same, except that a transpose of whole dimensions is kept apart behind the reshape, so that
/// it can sink further; one that is hidden in another transpose is brought out.
void populateSinkThroughReshapes(mlir::RewritePatternSet &patterns);

} // namespace conquer

#endif // CONQUER_OPT_TRANSFORMS_LAYOUT_H
