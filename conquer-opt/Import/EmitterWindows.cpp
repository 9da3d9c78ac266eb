//===- EmitterWindows.cpp - convolutions, pools and matmul of the Emitter ---------------------===//
#include "conquer-opt/Import/Emitter.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

namespace conquer::importer {
namespace tosa = mlir::tosa;

namespace {

/// A window as TOSA's attributes. The pad at the end is the one that makes the windows fit exactly.
struct WindowAttributes {
  explicit WindowAttributes(const std::vector<Axis> &window)
      : kernel{window[0].kernel, window[1].kernel}, stride{window[0].stride, window[1].stride},
        dilation{window[0].dilation, window[1].dilation},
        pad{window[0].padBegin, window[0].exactPadEnd(), window[1].padBegin,
            window[1].exactPadEnd()} {}
  std::vector<int64_t> kernel, stride, dilation, pad;
};

Shape outputShape(const Value &x, int64_t channels, const std::vector<Axis> &window) {
  return {x.shape[0], channels, window[0].output, window[1].output};
}

} // namespace

Value Emitter::cropped(const Value &x, const std::vector<Axis> &window) {
  Shape size = x.shape;
  size[2] -= window[0].crop();
  size[3] -= window[1].crop();
  return held(slice(held(x, Layout::ChannelsLast), {0, 0, 0, 0}, size, "crop"),
              Layout::ChannelsLast);
}

Value Emitter::conv2d(const Value &x, const Tensor &weight, const std::vector<float> &bias,
                      const std::vector<Axis> &window, const std::string &part) {
  WindowAttributes at(window);
  Value input = cropped(x, window);
  mlir::Value filter = floatConstant(permuted(weight.shape, toChannelsLast),
                                     permuted(weight.floats, weight.shape, toChannelsLast));
  mlir::Value offset = floatConstant({weight.shape[0]}, bias);
  Value result = made({}, outputShape(x, weight.shape[0], window), Layout::ChannelsLast);
  result.ssa = tosa::Conv2DOp::create(
      builder, location(part), mlir::Type(typeOf(result.heldShape())), input.ssa, filter, offset,
      zeroPoint(), zeroPoint(), llvm::ArrayRef(at.pad), llvm::ArrayRef(at.stride),
      llvm::ArrayRef(at.dilation), builder.getF32Type());
  return result;
}

Value Emitter::depthwise(const Value &x, const Tensor &weight, const std::vector<float> &bias,
                         const std::vector<Axis> &window, const std::string &part) {
  WindowAttributes at(window);
  Value input = cropped(x, window);
  int64_t channels = x.shape[1];
  Shape split = {channels, weight.shape[0] / channels, weight.shape[2], weight.shape[3]};
  const std::vector<int64_t> order = {2, 3, 0, 1};
  mlir::Value filter = floatConstant(permuted(split, order), permuted(weight.floats, split, order));
  mlir::Value offset = floatConstant({weight.shape[0]}, bias);
  Value result = made({}, outputShape(x, weight.shape[0], window), Layout::ChannelsLast);
  result.ssa = tosa::DepthwiseConv2DOp::create(
      builder, location(part), mlir::Type(typeOf(result.heldShape())), input.ssa, filter, offset,
      zeroPoint(), zeroPoint(), llvm::ArrayRef(at.pad), llvm::ArrayRef(at.stride),
      llvm::ArrayRef(at.dilation), builder.getF32Type());
  return result;
}

Value Emitter::averagePool(const Value &x, const std::vector<Axis> &window,
                           const std::string &part) {
  WindowAttributes at(window);
  Value input = cropped(x, window);
  Value result = made({}, outputShape(x, x.shape[1], window), Layout::ChannelsLast);
  result.ssa = tosa::AvgPool2dOp::create(
      builder, location(part), mlir::Type(typeOf(result.heldShape())), input.ssa, zeroPoint(),
      zeroPoint(), llvm::ArrayRef(at.kernel), llvm::ArrayRef(at.stride), llvm::ArrayRef(at.pad),
      builder.getF32Type());
  return result;
}

Value Emitter::maxPool(const Value &x, const std::vector<Axis> &window, const std::string &part) {
  WindowAttributes at(window);
  Value input = cropped(x, window);
  Value result = made({}, outputShape(x, x.shape[1], window), Layout::ChannelsLast);
  result.ssa = tosa::MaxPool2dOp::create(
      builder, location(part), mlir::Type(typeOf(result.heldShape())), input.ssa,
      llvm::ArrayRef(at.kernel), llvm::ArrayRef(at.stride), llvm::ArrayRef(at.pad));
  return result;
}

Value Emitter::matmul(const Value &a, const Value &b, const std::string &part) {
  Value result = made({}, {a.shape[0], a.shape[1], b.shape[2]}, Layout::Model);
  result.ssa = tosa::MatMulOp::create(builder, location(part), mlir::Type(typeOf(result.shape)),
                                      plain(a), plain(b), zeroPoint(), zeroPoint());
  return result;
}

} // namespace conquer::importer
