//===- LowerKernels.cpp - conquer ops become dispatches of external kernels -------------------===//
//
// conquer.conv2d / conquer.depthwise_conv2d --> flow.dispatch @cq_kernels::@<kernel>
//
// The weights are packed here by the level's own pack function, so that a module holds them as the
// kernel reads them. The ABI is cq_kernels.h.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Transforms/ConvChain.h"
#include "conquer-opt/Transforms/IreeDialects.h"
#include "conquer-opt/Transforms/KernelExecutable.h"
#include "conquer-opt/Transforms/Passes.h"
#include "conquer-opt/Transforms/Support.h"
#include "conquer-opt/kernels/cq_kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>
#include <cstring>

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_LOWERKERNELS
#include "conquer-opt/Transforms/Passes.h.inc"
} // namespace conquer

namespace {

/// Work per workgroup: large against the cost of a workgroup (a few microseconds), small against a
/// layer. At the profile's peak rate, or, for depthwise layers, an eighth of it (they are bound by
/// loads from the caches), and at most at its bandwidth.
constexpr double workgroupSeconds = 50e-6;
constexpr double depthwiseRate = 0.125;
/// A rate for profiles that state none, in MAC/s.
constexpr double defaultPeak = 10e9;

template <typename ConvOp>
cq_conv2d_params geometryOf(ConvOp op, int64_t kernelH, int64_t kernelW) {
  ArrayRef<int64_t> in = op.getInput().getType().getShape();
  ArrayRef<int64_t> out = op.getOutput().getType().getShape();
  auto narrow = [](int64_t value) { return static_cast<int32_t>(value); };
  auto code = [](uint32_t value) { return static_cast<int32_t>(value); };
  cq_conv2d_params p = {};
  p.batch = narrow(in[0]), p.in_h = narrow(in[1]), p.in_w = narrow(in[2]), p.in_c = narrow(in[3]);
  p.out_h = narrow(out[1]), p.out_w = narrow(out[2]), p.out_c = narrow(out[3]);
  p.kernel_h = narrow(kernelH), p.kernel_w = narrow(kernelW);
  p.stride_h = narrow(op.getStride()[0]), p.stride_w = narrow(op.getStride()[1]);
  p.dilation_h = narrow(op.getDilation()[0]), p.dilation_w = narrow(op.getDilation()[1]);
  p.pad_top = narrow(op.getPad()[0]), p.pad_left = narrow(op.getPad()[2]);
  p.input_zp = code(op.getInputZp()), p.output_zp = code(op.getOutputZp());
  p.clamp_min = code(op.getClampMin()), p.clamp_max = code(op.getClampMax());
  p.clamp_min_f32 = op.getClampMinF32().convertToFloat();
  p.clamp_max_f32 = op.getClampMaxF32().convertToFloat();
  return p;
}

cq_conv2d_params paramsOf(Operation *op) {
  if (auto conv = dyn_cast<conquer::Conv2DOp>(op)) {
    ArrayRef<int64_t> weights = conv.getWeights().getType().getShape();
    return geometryOf(conv, weights[1], weights[2]);
  }
  auto depthwise = cast<conquer::DepthwiseConv2DOp>(op);
  ArrayRef<int64_t> weights = depthwise.getWeights().getType().getShape();
  return geometryOf(depthwise, weights[0], weights[1]);
}

int64_t workgroupCount(const cq_conv2d_params &p, bool isDepthwise, conquer::Precision precision,
                       const conquer::Profile &profile) {
  auto peak = profile.peak.find(precision);
  double rate = peak == profile.peak.end() ? defaultPeak : peak->second * 1e9;
  double pixels = static_cast<double>(p.batch) * p.out_h * p.out_w;
  double weights = static_cast<double>(p.out_c) * p.kernel_h * p.kernel_w;
  if (isDepthwise)
    rate *= depthwiseRate;
  else
    weights *= p.in_c;
  // Weights are read once from main memory: what bounds fully connected layers.
  double seconds = std::max(pixels * weights / rate, weights * conquer::bytesPerWeight(precision) /
                                                         (profile.bandwidth * 1e9));
  // More groups than rows, or than channels of a layer of one pixel, would leave some idle.
  double units = std::max<double>(static_cast<double>(p.batch) * p.out_h, p.out_c / 64.0);
  return static_cast<int64_t>(std::max(1.0, std::min(units, seconds / workgroupSeconds)));
}

/// The elements of a constant operand, also if it is a splat; i4 ones as the bytes that pack
/// functions read.
template <typename T>
FailureOr<std::vector<T>> elementsOf(Operation *op, Value operand, const char *name) {
  DenseElementsAttr attr;
  if (!matchPattern(operand, m_Constant(&attr)))
    return op->emitOpError("has ") << name << " that are not constant, expected a tosa.const";
  std::vector<T> values;
  values.reserve(attr.getNumElements());
  if (auto floats = dyn_cast<DenseFPElementsAttr>(attr)) {
    for (const APFloat &value : floats)
      if constexpr (std::is_floating_point_v<T>)
        values.push_back(value.convertToFloat());
      else
        values.push_back(static_cast<T>(value.bitcastToAPInt().getZExtValue()));
  } else {
    for (const APInt &value : attr.getValues<APInt>())
      values.push_back(static_cast<T>(value.getSExtValue()));
  }
  return values;
}

/// A constant vector of elements of that type, stored as Ts.
template <typename T>
Value constant(OpBuilder &builder, Location loc, Type elementType, const std::vector<T> &values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, elementType);
  ArrayRef<char> bytes(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
  auto attr = DenseElementsAttr::getFromRawBuffer(type, bytes);
  return tosa::ConstOp::create(builder, loc, type, attr);
}

/// The struct as the module holds it.
std::vector<int32_t> words(const cq_conv2d_params &params) {
  static_assert(sizeof(params) == 21 * sizeof(int32_t), "the ABI of the modules");
  std::vector<int32_t> result(sizeof(params) / sizeof(int32_t));
  std::memcpy(result.data(), &params, sizeof(params));
  return result;
}

/// One call of a kernel: its symbol without the level, and its operands before the geometry.
struct Call {
  std::string kernel;
  SmallVector<Value> operands;
};

FailureOr<Call> packInteger(Operation *op, const cq_integer_kernels &kernels,
                            const cq_conv2d_params &params, StringRef name) {
  auto weights = elementsOf<int8_t>(op, op->getOperand(1), "weights");
  auto bias = elementsOf<int32_t>(op, op->getOperand(2), "biases");
  auto multiplier = elementsOf<float>(op, op->getOperand(3), "multipliers");
  if (failed(weights) || failed(bias) || failed(multiplier))
    return failure();
  std::vector<int8_t> packedWeights(kernels.size(&params));
  std::vector<int32_t> packedBias(bias->size());
  kernels.pack(weights->data(), bias->data(), &params, packedWeights.data(), packedBias.data());
  OpBuilder builder(op);
  Location loc = op->getLoc();
  bool toF32 = getElementTypeOrSelf(op->getResult(0)).isF32();
  return Call{(name + (toF32 ? "_f32" : "_i8")).str(),
              {op->getOperand(0), constant(builder, loc, builder.getI8Type(), packedWeights),
               constant(builder, loc, builder.getI32Type(), packedBias),
               constant(builder, loc, builder.getF32Type(), *multiplier)}};
}

FailureOr<Call> packBF16(Operation *op, const cq_bf16_kernels &kernels,
                         const cq_conv2d_params &params, StringRef name) {
  auto weights = elementsOf<uint16_t>(op, op->getOperand(1), "weights");
  auto bias = elementsOf<float>(op, op->getOperand(2), "biases");
  if (failed(weights) || failed(bias))
    return failure();
  std::vector<uint16_t> packedWeights(kernels.size(&params));
  kernels.pack(weights->data(), &params, packedWeights.data());
  OpBuilder builder(op);
  Location loc = op->getLoc();
  return Call{name.str(),
              {op->getOperand(0), constant(builder, loc, builder.getBF16Type(), packedWeights),
               constant(builder, loc, builder.getF32Type(), *bias)}};
}

FailureOr<Call> pack(Operation *op, conquer::Precision precision, const cq_level &level,
                     const cq_conv2d_params &params) {
  bool depthwise = isa<conquer::DepthwiseConv2DOp>(op);
  std::string name = std::string(depthwise ? "cq_depthwise_" : "cq_conv2d_") +
                     std::string(conquer::precisionName(precision));
  if (precision == conquer::Precision::BF16)
    return packBF16(op, depthwise ? level.depthwise_bf16 : level.conv2d_bf16, params, name);
  if (precision == conquer::Precision::W4A8)
    return packInteger(op, depthwise ? level.depthwise_w4a8 : level.conv2d_w4a8, params, name);
  return packInteger(op, depthwise ? level.depthwise_i8 : level.conv2d_i8, params, name);
}

LogicalResult lowerOp(Operation *op, const cq_level &level, const conquer::Profile &profile,
                      conquer::KernelExecutable &executable) {
  conquer::Precision precision = *conquer::getTypedPrecision(op);
  cq_conv2d_params params = paramsOf(op);
  OpBuilder builder(op);
  Location loc = op->getLoc();
  bool depthwise = isa<conquer::DepthwiseConv2DOp>(op);
  SmallVector<Value> operands = {arith::ConstantIndexOp::create(
      builder, loc, workgroupCount(params, depthwise, precision, profile))};
  FailureOr<Call> call = pack(op, precision, level, params);
  if (failed(call))
    return failure();
  operands.append(call->operands);
  operands.push_back(constant(builder, loc, builder.getI32Type(), words(params)));
  Type output = op->getResult(0).getType();
  SmallVector<Type> elements;
  for (Value operand : ArrayRef(operands).drop_front())
    elements.push_back(getElementTypeOrSelf(operand));
  elements.push_back(getElementTypeOrSelf(output));
  // One workload value, the operands, no dynamic dimensions; no operand is overwritten.
  auto numOperands = static_cast<int32_t>(operands.size()) - 1;
  NamedAttribute attributes[] = {
      builder.getNamedAttr("entry_points",
                           builder.getArrayAttr(executable.getExport(call->kernel, elements))),
      builder.getNamedAttr("operandSegmentSizes",
                           builder.getDenseI32ArrayAttr({1, numOperands, 0, 0})),
      builder.getNamedAttr("tied_operands", builder.getIndexArrayAttr({-1}))};
  OperationState state(loc, "flow.dispatch", operands, output, attributes);
  op->replaceAllUsesWith(builder.create(state));
  op->erase();
  return success();
}

/// Layers whose weights or accumulators IREE must not see; they have no other form than a kernel.
LogicalResult refuseWithoutKernel(Operation *op) {
  if (!conquer::isLayer(op) || isa<conquer::ConquerDialect>(op->getDialect()))
    return success();
  std::optional<conquer::Precision> precision = conquer::getTypedPrecision(op);
  if (precision != conquer::Precision::W4A8 && precision != conquer::Precision::W8A16)
    return success();
  std::string reason = "there is none for its kind and precision";
  if (conquer::fusiblePrecision(op) && succeeded(conquer::matchConvChain(op, reason)))
    reason = "the profile names none, or fuse has not run";
  auto layer = op->getAttrOfType<StringAttr>(conquer::layerAttrName);
  return op->emitError() << conquer::precisionName(*precision) << " layer '"
                         << (layer ? layer.getValue() : conquer::getId(op))
                         << "' has no kernel: " << reason
                         << "; expected a kernel, because IREE computes i4 and i48 wrongly on some "
                            "targets; give the layer another precision, or take the TOSA form that "
                            "quantize writes to another compiler";
}

struct LowerKernels : conquer::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;

  void runOnOperation() override {
    SmallVector<Operation *> fused;
    WalkResult checked = getOperation().walk([&](Operation *op) -> WalkResult {
      if (isa<conquer::Conv2DOp, conquer::DepthwiseConv2DOp>(op))
        fused.push_back(op);
      return refuseWithoutKernel(op);
    });
    if (checked.wasInterrupted())
      return signalPassFailure();
    if (fused.empty())
      return;
    FailureOr<conquer::Profile> target =
        conquer::requireProfile(getOperation(), profile, profileDir);
    if (failed(target))
      return signalPassFailure();
    const cq_level *level = cq_find_level(target->kernelLevel.c_str());
    if (!level) {
      getOperation().emitError("profile '")
          << target->name << "' names the kernel level '" << target->kernelLevel
          << "', which this build does not have; rebuild for it or pick another profile";
      return signalPassFailure();
    }
    // A module's features are the profile's; a CPU without those of the kernels must refuse it.
    for (const char *const *feature = level->features; *feature; ++feature)
      if (!llvm::is_contained(target->features, *feature)) {
        getOperation().emitError("profile '")
            << target->name << "': features: '" << *feature
            << "' is missing, which the kernel level '" << target->kernelLevel << "' needs";
        return signalPassFailure();
      }
    conquer::KernelExecutable executable(getOperation(), *target);
    for (Operation *op : fused)
      if (failed(lowerOp(op, *level, *target, executable)))
        return signalPassFailure();
  }
};

} // namespace
