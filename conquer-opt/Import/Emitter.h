//===- Emitter.h - TOSA ops over values that know their layout --------------------------------===//
//
// ONNX holds images as N, C, H, W; TOSA's convolutions and pools want N, H, W, C. Every value
// therefore carries the layout in which it is held, shapes and axes are always given in ONNX's
// order, and the methods here translate. A transpose is emitted only where an op needs the other
// layout than the one its operand has, at most once per value.
//
// Locations: each node's principal op has the node's name, the ops around it "name:part", so that
// ids made from locations name layers as the model does.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_IMPORT_EMITTER_H
#define CONQUER_OPT_IMPORT_EMITTER_H

#include "conquer-opt/Import/OnnxModel.h"
#include "conquer-opt/Import/Window.h"

#include "mlir/IR/Builders.h"

#include <deque>

namespace conquer::importer {

enum class Layout {
  Model,           ///< dimensions in ONNX's order
  ChannelsLast,    ///< rank 4 only: held as N, H, W, C
  FlatChannelsLast ///< rank 2 only: [N, C*H*W] held as [N, H*W*C]; see Value::image
};

/// An activation, or a constant that has not been emitted yet.
struct Value {
  mlir::Value ssa; ///< null for constants
  Shape shape;     ///< in ONNX's order
  Layout layout = Layout::Model;
  const Tensor *constant = nullptr;
  Shape image; ///< FlatChannelsLast: the N, C, H, W before flattening

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  /// The shape as held in memory.
  Shape heldShape() const;
};

/// Elements reordered as by numpy's transpose; `permutation` has one entry per dimension.
std::vector<float> permuted(const std::vector<float> &data, const Shape &shape,
                            const std::vector<int64_t> &permutation);
Shape permuted(const Shape &shape, const std::vector<int64_t> &permutation);
/// N, C, H, W -> N, H, W, C and back.
extern const std::vector<int64_t> toChannelsLast, toChannelsFirst;
/// Numpy's broadcasting; false if the shapes do not go together.
bool broadcast(const Shape &a, const Shape &b, Shape &result);

class Emitter {
public:
  explicit Emitter(const mlir::OpBuilder &opBuilder) : builder(opBuilder) {}

  /// Names the ops that follow.
  void setNode(std::string name) { nodeName = std::move(name); }
  mlir::Location location(const std::string &part = "") const;
  mlir::OpBuilder &opBuilder() { return builder; }

  // Constants. Equal constants are emitted once.
  mlir::Value floatConstant(const Shape &shape, const std::vector<float> &data);
  mlir::Value zeroPoint();
  mlir::Value shapeConstant(const std::vector<int64_t> &dims);
  Value scalar(float value) { return constantValue({}, {value}); }
  Value constantValue(Shape shape, std::vector<float> data);

  // Layout.
  /// The value held in the given layout (Model or ChannelsLast). Constants are emitted.
  Value held(const Value &x, Layout layout);
  /// As it is held, where that is Model or ChannelsLast; constants are emitted.
  Value emitted(const Value &x) {
    return x.constant || x.layout == Layout::FlatChannelsLast ? held(x, Layout::Model) : x;
  }
  /// A plain tensor in ONNX's order.
  mlir::Value plain(const Value &x) { return held(x, Layout::Model).ssa; }

  // Elementwise. `Op` is SigmoidOp, TanhOp or ExpOp.
  template <typename Op> Value unary(const Value &x, const std::string &part = "");
  Value add(const Value &a, const Value &b, const std::string &part = "");
  Value sub(const Value &a, const Value &b, const std::string &part = "");
  Value maximum(const Value &a, const Value &b, const std::string &part = "");
  Value minimum(const Value &a, const Value &b, const std::string &part = "");
  Value mul(const Value &a, const Value &b, const std::string &part = "");
  Value reciprocal(const Value &x, const std::string &part = "");
  Value clamp(const Value &x, float low, float high, const std::string &part = "");

  // Moving data. Sizes and axes are in ONNX's order and have been checked by the caller.
  Value reshape(const Value &x, const Shape &shape, const std::string &part = "");
  Value transpose(const Value &x, const std::vector<int64_t> &permutation,
                  const std::string &part = "");
  Value slice(const Value &x, const Shape &start, const Shape &size, const std::string &part = "");
  Value pad(const Value &x, const Shape &before, const Shape &behind, float fill,
            const std::string &part = "");
  Value concat(const std::vector<Value> &xs, int64_t axis, const std::string &part = "");
  Value tile(const Value &x, const Shape &multiples, const std::string &part = "");

  // Reductions keep the axis with size 1.
  Value reduceSum(const Value &x, int64_t axis, const std::string &part = "");
  Value reduceMax(const Value &x, int64_t axis, const std::string &part = "");

  // Windows over N, C, H, W values; `window` has two axes. Tails that no window reads are cut off.
  Value cropped(const Value &x, const std::vector<Axis> &window);
  /// Weights as in ONNX, [OC, IC, KH, KW]; bias [OC].
  Value conv2d(const Value &x, const Tensor &weight, const std::vector<float> &bias,
               const std::vector<Axis> &window, const std::string &part = "");
  /// Weights [C * M, 1, KH, KW]: M outputs for each of the C input channels.
  Value depthwise(const Value &x, const Tensor &weight, const std::vector<float> &bias,
                  const std::vector<Axis> &window, const std::string &part = "");
  Value averagePool(const Value &x, const std::vector<Axis> &window, const std::string &part = "");
  Value maxPool(const Value &x, const std::vector<Axis> &window, const std::string &part = "");
  /// [B, M, K] x [B, K, N].
  Value matmul(const Value &a, const Value &b, const std::string &part = "");

private:
  mlir::RankedTensorType typeOf(const Shape &held) const;
  Value made(mlir::Value ssa, Shape shape, Layout layout) const;
  mlir::Value transposeHeld(mlir::Value x, const Shape &held,
                            const std::vector<int64_t> &permutation, const std::string &part);
  mlir::Value reshapeHeld(mlir::Value x, const Shape &from, const Shape &to,
                          const std::string &part);
  Value operand(const Value &x, int64_t rank, Layout layout);
  /// As it is held, FlatChannelsLast included: for ops that treat all elements alike.
  Value anyLayout(const Value &x) { return x.constant ? held(x, Layout::Model) : x; }
  template <typename Op> Value binary(const Value &a, const Value &b, const std::string &part);
  template <typename Reduce> Value reduce(const Value &x, int64_t axis, const std::string &part);
  int64_t heldAxis(const Value &x, int64_t axis) const;

  mlir::OpBuilder builder;
  std::string nodeName;
  std::deque<Tensor> ownConstants; ///< never moved: Values point into it
  llvm::DenseMap<mlir::Attribute, mlir::Value> emittedConstants;
  /// A value in another layout. The layout is part of the key because a transpose of the model may
  /// give the same elements another meaning (see transpose).
  llvm::DenseMap<std::pair<mlir::Value, int>, mlir::Value> otherLayout;
};

} // namespace conquer::importer

#endif // CONQUER_OPT_IMPORT_EMITTER_H
