//===- CheckInput.cpp - refuses what the compiler cannot start from ---------------------------===//

#include "conquer-opt/Analysis/CollectLayers.h"
#include "conquer-opt/Transforms/Checks.h"
#include "conquer-opt/Transforms/Passes.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_CHECKINPUTPASS
#include "conquer-opt/Transforms/Passes.h.inc"

namespace {

/// The TOSA ops that may compute activations of an f32 network. Left out: control flow, variables,
/// custom ops, Fourier transforms, 3-D convolutions, block-scaled types, integer arithmetic.
const llvm::StringSet<> &supportedOps() {
  static const llvm::StringSet<> ops = {
      "abs",        "add",        "argmax",     "avg_pool2d", "cast",        "ceil",
      "clamp",      "concat",     "conv2d",     "cos",        "equal",       "depthwise_conv2d",
      "erf",        "exp",        "floor",      "gather",     "greater",     "greater_equal",
      "identity",   "log",        "matmul",     "max_pool2d", "logical_and", "logical_not",
      "logical_or", "maximum",    "minimum",    "mul",        "negate",      "pad",
      "pow",        "reciprocal", "reduce_max", "reduce_min", "reduce_sum",  "reduce_product",
      "reshape",    "resize",     "reverse",    "rsqrt",      "select",      "sigmoid",
      "sin",        "slice",      "sub",        "tanh",       "tile",        "transpose_conv2d",
      "transpose"};
  return ops;
}

/// Emits an error and its fix as a note.
LogicalResult fail(Location loc, const Twine &message, StringRef fix) {
  InFlightDiagnostic diagnostic = emitError(loc, message);
  diagnostic.attachNote() << fix;
  return diagnostic;
}

std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << "'" << type << "'";
  return text;
}

/// Every dimension known and at least 1.
LogicalResult checkShape(Location loc, Type type, const Twine &what) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return fail(loc, what + " is " + print(type) + ", expected a ranked tensor",
                "run shape inference in the tool that made this model");
  if (!tensor.hasStaticShape())
    return fail(loc, what + " has a dynamic shape " + print(type) + ", expected a static one",
                "give every dimension a size when the model is exported or imported");
  if (tensor.getNumElements() == 0)
    return fail(loc, what + " is empty: " + print(type), "every dimension must be at least 1");
  return mlir::success();
}

LogicalResult checkBorder(Location loc, Type type, const Twine &what) {
  if (failed(checkShape(loc, type, what)))
    return failure();
  if (!cast<RankedTensorType>(type).getElementType().isF32())
    return fail(loc, what + " is " + print(type) + ", expected f32 elements",
                "start from the float model; quantisation is what this compiler does");
  return mlir::success();
}

/// i1 and i32 are conditions and indices; every other integer means a quantised model.
LogicalResult checkActivation(Operation *op, Value value) {
  if (failed(checkShape(op->getLoc(), value.getType(),
                        "the result of " + op->getName().getStringRef())))
    return failure();
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  if (element.isF32() || element.isInteger(1) || element.isInteger(32))
    return mlir::success();
  return fail(op->getLoc(),
              "the result of " + op->getName().getStringRef() + " is " + print(value.getType()) +
                  ", expected f32",
              "start from the float model; quantisation is what this compiler does");
}

LogicalResult checkOp(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (isa<tosa::RescaleOp, tosa::TableOp>(op))
    return fail(op->getLoc(), name + " found: the model is already quantised, expected f32",
                "start from the float model; quantisation is what this compiler does");
  if (!name.consume_front("tosa.") || !supportedOps().contains(name))
    return fail(op->getLoc(), "op '" + op->getName().getStringRef() + "' is not supported",
                "the ops that are: docs of the pass conquer-check-input");
  for (Value result : op->getResults())
    if (failed(checkActivation(op, result)))
      return failure();
  return mlir::success();
}

LogicalResult checkFunction(func::FuncOp func) {
  if (func.isExternal() || !llvm::hasSingleElement(func.getBody()))
    return fail(func.getLoc(), "function '" + func.getName() + "' is not one block of ops",
                "expected a function with a body and without control flow");
  for (BlockArgument argument : func.getArguments())
    if (failed(checkBorder(argument.getLoc(), argument.getType(),
                           "input " + Twine(argument.getArgNumber()))))
      return failure();
  if (func.getNumArguments() == 0 || func.getNumResults() == 0)
    return fail(func.getLoc(), "function '" + func.getName() + "' has no inputs or no outputs",
                "expected a network");
  for (auto [index, type] : llvm::enumerate(func.getResultTypes()))
    if (failed(checkBorder(func.getLoc(), type, "output " + Twine(index))))
      return failure();
  for (Operation &op : func.front().without_terminator())
    if (op.getName().getDialectNamespace() != "tosa")
      return fail(op.getLoc(), "op '" + op.getName().getStringRef() + "' is not a TOSA op",
                  "lower the model to TOSA first");
  for (Operation *op : activationOps(func))
    if (failed(checkOp(op)))
      return failure();
  return mlir::success();
}

struct CheckInputPass : impl::CheckInputPassBase<CheckInputPass> {
  void runOnOperation() override {
    if (failed(checkFloatNetwork(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace

func::FuncOp getNetwork(ModuleOp module) { return *module.getOps<func::FuncOp>().begin(); }

LogicalResult checkFloatNetwork(ModuleOp module) {
  func::FuncOp network;
  for (Operation &op : *module.getBody()) {
    auto func = dyn_cast<func::FuncOp>(op);
    if (!func)
      return fail(op.getLoc(),
                  "op '" + op.getName().getStringRef() + "' beside the network's function",
                  "expected a module of one function");
    if (network)
      return fail(func.getLoc(), "a second function '" + func.getName() + "'",
                  "expected a module of one function");
    network = func;
  }
  if (!network)
    return fail(module.getLoc(), "the module has no function", "expected a module of one function");
  return checkFunction(network);
}

} // namespace conquer
