//===- Latency.cpp - from a prepared network to functions worth timing ------------------------===//
//
// The layers are cut out of the network quantised uniformly, one precision after the other, so that
// what is timed is what quantize, fuse and lower make of a layer, and nothing else.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Pipelines/Latency.h"

#include "conquer-opt/Analysis/CollectLayers.h"
#include "conquer-opt/Pipelines/Fuse.h"
#include "conquer-opt/Pipelines/LatencyIndex.h"
#include "conquer-opt/Pipelines/Lower.h"
#include "conquer-opt/Pipelines/Outline.h"
#include "conquer-opt/Pipelines/Quantize.h"
#include "conquer-opt/Transforms/Passes.h"
#include "conquer-opt/Transforms/QuantizeEmitter.h"
#include "conquer-opt/Transforms/Support.h"
#include "support/Json.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace mlir;
using conquer::LatencyFunction;
using conquer::Precision;

namespace {

std::string name(Precision precision) { return std::string(conquer::precisionName(precision)); }

/// "1x28x28x32xi8"
std::string describe(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto tensor = cast<RankedTensorType>(type);
  for (int64_t size : tensor.getShape())
    stream << size << "x";
  stream << tensor.getElementType();
  return text;
}

/// Every layer in the precision, or in f32 where that is not legal.
conquer::Policy uniformPolicy(const conquer::LayerList &list, Precision precision) {
  conquer::Policy policy;
  for (const conquer::Layer &layer : list.layers)
    policy.layers[layer.id] =
        llvm::is_contained(layer.precisions, precision) ? precision : Precision::F32;
  return policy;
}

/// A function that converts a vector of that many elements, as quantize does: by way of f32.
func::FuncOp makeConversion(ModuleOp module, const LatencyFunction &entry) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  conquer::ConstantPool pool;
  conquer::QuantizeEmitter emitter(builder, loc, pool);
  auto input = RankedTensorType::get({entry.elements}, emitter.elementOf(entry.from));
  auto output = input.clone(emitter.elementOf(entry.to));
  auto function =
      func::FuncOp::create(builder, loc, entry.function, builder.getFunctionType(input, output));
  builder.setInsertionPointToStart(function.addEntryBlock());
  conquer::AffineParams params = {0.0625f, 3}; // any will do: the time does not depend on it
  Value value = function.getArgument(0);
  if (entry.from == entry.to) // what a call of one dispatch takes
    value = tosa::AbsOp::create(builder, loc, output, value);
  else
    value = emitter.convert(value, entry.from, entry.to, params);
  func::ReturnOp::create(builder, loc, value);
  return function;
}

/// Replaces `main` by the functions to time and writes their index. It is not in Passes.td, because
/// it runs the quantize stage, which lies above the passes.
class LatencyFunctions : public PassWrapper<LatencyFunctions, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LatencyFunctions)

  LatencyFunctions(std::string calibration, std::string index, std::string profile,
                   std::string profileDir)
      : calibrationFile(std::move(calibration)), indexFile(std::move(index)),
        profileName(std::move(profile)), profileDir(std::move(profileDir)) {}

  StringRef getArgument() const final { return "conquer-latency-functions"; }
  StringRef getDescription() const final { return "Cut a prepared network into functions to time"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<conquer::ConquerDialect, func::FuncDialect, tosa::TosaDialect>();
  }
  void runOnOperation() final {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult run(ModuleOp module);
  LogicalResult addLayers(ModuleOp module, ModuleOp source, const conquer::LayerList &list,
                          Precision precision);
  void addConversions(ModuleOp module, const conquer::LayerList &list);
  void addConversion(ModuleOp module, Precision from, Precision to, int64_t elements);
  LogicalResult quantizeUniformly(ModuleOp source, const conquer::LayerList &list,
                                  Precision precision);
  LogicalResult fail(Operation *op, const conquer::Error &error) {
    return op->emitError(error.message());
  }

  std::string calibrationFile, indexFile, profileName, profileDir;
  conquer::QuantizeInputs inputs; ///< profile and calibration; the policy follows per precision
  std::vector<LatencyFunction> functions;
};

LogicalResult LatencyFunctions::run(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return module.emitError("no function 'main', expected prepared IR");
  FailureOr<conquer::Profile> target = conquer::requireProfile(module, profileName, profileDir);
  if (failed(target))
    return failure();
  if (target->driver == conquer::Driver::None)
    return module.emitError("profile '")
           << target->name << "' has the driver 'none', expected a device that runs IREE's modules";
  conquer::Result<conquer::Calibration> calibration = conquer::readCalibration(calibrationFile);
  if (!calibration)
    return fail(module, calibration.error());
  conquer::Result<conquer::LayerList> list = conquer::collectLayers(main, *target);
  if (!list)
    return fail(module, list.error());
  inputs.profile = *target;
  inputs.calibration = *calibration;
  functions.clear();

  for (Precision precision : conquer::allPrecisions) {
    if (llvm::none_of(list->layers, [&](const conquer::Layer &layer) {
          return llvm::is_contained(layer.precisions, precision);
        }))
      continue;
    // The copy lives inside the module, where a nested pipeline may run on it.
    ModuleOp source = ModuleOp::create(module.getLoc());
    source.push_back(main.clone());
    module.push_back(source);
    if (failed(quantizeUniformly(source, *list, precision)) ||
        failed(addLayers(module, source, *list, precision)))
      return failure();
    source.erase();
  }
  addConversions(module, *list);
  main.erase();
  conquer::Status written =
      conquer::writeFileAtomically(indexFile, conquer::latencyIndexToJson(functions));
  return written ? success() : fail(module, written.error());
}

LogicalResult LatencyFunctions::quantizeUniformly(ModuleOp source, const conquer::LayerList &list,
                                                  Precision precision) {
  if (precision == Precision::F32)
    return success();
  inputs.policy = uniformPolicy(list, precision);
  OpPassManager pipeline(ModuleOp::getOperationName());
  conquer::buildQuantizePipeline(pipeline, std::make_shared<conquer::QuantizeInputs>(inputs));
  return runPipeline(pipeline, source);
}

LogicalResult LatencyFunctions::addLayers(ModuleOp module, ModuleOp source,
                                          const conquer::LayerList &list, Precision precision) {
  auto main = source.lookupSymbol<func::FuncOp>("main");
  std::set<std::string> done;
  for (const conquer::Layer &layer : list.layers) {
    if (!llvm::is_contained(layer.precisions, precision) || !done.insert(layer.signature).second)
      continue;
    Operation *op = conquer::findLayer(main, layer.id);
    if (!op)
      return main.emitError("layer '") << layer.id << "' is gone after quantize";
    LatencyFunction entry;
    entry.function = "layer_" + std::to_string(done.size() - 1) + "_" + name(precision);
    entry.signature = layer.signature;
    entry.from = precision;
    FailureOr<func::FuncOp> function = conquer::outlineLayer(module, op, entry.function);
    if (failed(function))
      return failure();
    for (Type type : function->getArgumentTypes())
      entry.inputs.push_back(describe(type));
    functions.push_back(std::move(entry));
  }
  return success();
}

void LatencyFunctions::addConversions(ModuleOp module, const conquer::LayerList &list) {
  std::set<int64_t> sizes;
  for (const conquer::Edge &edge : list.edges)
    sizes.insert(edge.elements);
  std::set<Precision> forms = {Precision::F32};
  for (const conquer::Layer &layer : list.layers)
    for (Precision precision : layer.precisions)
      forms.insert(conquer::activationForm(precision));
  for (Precision from : forms)
    for (Precision to : forms)
      if (from != to)
        for (int64_t elements : sizes)
          addConversion(module, from, to, elements);
  addConversion(module, Precision::F32, Precision::F32, 1); // for the time of a call
}

void LatencyFunctions::addConversion(ModuleOp module, Precision from, Precision to,
                                     int64_t elements) {
  LatencyFunction entry;
  entry.function = "convert_" + name(from) + "_" + name(to) + "_" + std::to_string(elements);
  entry.from = from;
  entry.to = to;
  entry.elements = elements;
  func::FuncOp function = makeConversion(module, entry);
  entry.inputs = {describe(function.getArgumentTypes().front())};
  functions.push_back(std::move(entry));
}

} // namespace

void conquer::buildLatencyPipeline(OpPassManager &manager, const LatencyPipelineOptions &options) {
  // prepared network --> functions in quantised TOSA
  manager.addPass(std::make_unique<LatencyFunctions>(options.calibration, options.index,
                                                     options.profile, options.profileDir));
  FusePipelineOptions fuse;
  fuse.profile = options.profile;
  fuse.profileDir = options.profileDir;
  buildFusePipeline(manager, fuse);
  LowerPipelineOptions lower;
  lower.profile = options.profile;
  lower.profileDir = options.profileDir;
  buildLowerPipeline(manager, lower);
}

void conquer::registerLatencyPipeline() {
  PassPipelineRegistration<LatencyPipelineOptions>(
      "conquer-latency-pipeline",
      "Turn prepared IR into one function per layer, precision and conversion, for timing",
      buildLatencyPipeline);
}
