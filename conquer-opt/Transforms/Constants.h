//===- Constants.h - reading and making constant tensors --------------------------------------===//
#ifndef CONQUER_OPT_TRANSFORMS_CONSTANTS_H
#define CONQUER_OPT_TRANSFORMS_CONSTANTS_H

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <optional>
#include <vector>

namespace conquer {

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}
inline int64_t elementsOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getNumElements();
}

/// The constant behind a value of f32, null if there is none.
mlir::DenseElementsAttr getFloats(mlir::Value value);
/// The one value of an f32 constant whose elements are all equal, scalars included.
std::optional<float> getSplat(mlir::Value value);
/// All elements, splats expanded.
std::vector<float> toVector(mlir::DenseElementsAttr floats);
/// The dimensions that a tosa.const_shape holds.
std::optional<llvm::SmallVector<int64_t>> getShape(mlir::Value value);

/// The f32 constant behind `value`, whose shape is broadcast to one of rank `rank`, as one factor
/// or summand for each of `channels` elements of the last dimension; none if it varies along
/// another dimension or is no constant.
std::optional<std::vector<double>> getPerChannel(mlir::Value value, int64_t channels);

mlir::Value createFloats(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values);
mlir::Value createShape(mlir::OpBuilder &builder, mlir::Location loc,
                        llvm::ArrayRef<int64_t> shape);
/// The value itself if it has the shape already.
mlir::Value createReshape(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                          llvm::ArrayRef<int64_t> shape);

} // namespace conquer

#endif // CONQUER_OPT_TRANSFORMS_CONSTANTS_H
