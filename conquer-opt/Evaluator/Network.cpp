//===- Network.cpp - the prepared module and its quantised forms ------------------------------===//

#include "conquer-opt/Evaluator/Network.h"

#include "conquer-opt/Analysis/PrecisionRules.h"

#include "conquer-opt/Evaluator/GraphReader.h"
#include "conquer-opt/IR/Conquer.h"
#include "conquer-opt/Pipelines/Fuse.h"
#include "conquer-opt/Pipelines/Quantize.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace conquer;

/// What must stay alive behind the plain graph.
struct Network::Module {
  Module() : context(registry(), mlir::MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }
  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    registry.insert<ConquerDialect, mlir::func::FuncDialect, mlir::tosa::TosaDialect>();
    return registry;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ConstantCache constants;
};

namespace {

/// Collects the first error and its notes while it lives; nothing is printed.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext &context)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) { add(diagnostic); }) {}

  /// The collected message as an Error, `fallback` if there was none.
  Error error(const std::string &fallback, const std::string &where) const {
    return {text.empty() ? fallback : text, where, "", ""};
  }

private:
  void add(mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error || !text.empty())
      return;
    llvm::raw_string_ostream os(text);
    if (!mlir::isa<mlir::UnknownLoc>(diagnostic.getLocation()))
      os << diagnostic.getLocation() << ": ";
    os << diagnostic.str();
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      os << "; " << note.str();
  }

  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace

Network::Network() : module(std::make_unique<Module>()) {}
Network::~Network() = default;

Result<std::unique_ptr<Network>> Network::load(const std::string &path, const Profile &profile) {
  std::unique_ptr<Network> network(new Network);
  Module &module = *network->module;
  Diagnostics diagnostics(module.context);
  module.module = mlir::parseSourceFile<mlir::ModuleOp>(path, &module.context);
  if (!module.module)
    return diagnostics.error("cannot parse the module", path);
  Result<Graph> graph = readGraph(*module.module, module.constants);
  if (!graph) {
    Error error = graph.error();
    error.where = error.where.empty() ? path : path + ": " + error.where;
    return error;
  }
  network->graph = std::make_shared<const Graph>(std::move(*graph));
  module.module->walk([&](mlir::Operation *op) {
    if (isLayer(op))
      network->policyLayers.push_back(
          {getId(op).str(), getLayerKind(op).str(), legalPrecisions(op, profile)});
  });
  return network;
}

namespace {

/// Runs the fuse stage on a quantised module.
mlir::LogicalResult fuse(mlir::ModuleOp module, const Target &target, bool probe) {
  mlir::PassManager manager(module.getContext());
  FusePipelineOptions options;
  options.profile = target.name;
  options.profileDir = target.folder;
  options.probe = probe;
  buildFusePipeline(manager, options);
  return manager.run(module);
}

} // namespace

Result<std::shared_ptr<const Graph>> Network::quantized(const Policy &policy,
                                                        const Calibration &calibration,
                                                        const Target &target, bool probe) const {
  Diagnostics diagnostics(module->context);
  mlir::OwningOpRef<mlir::ModuleOp> clone = module->module->clone();
  if (mlir::failed(quantize(*clone, policy, calibration, target.profile)))
    return diagnostics.error("cannot quantise the network", "quantise");
  if (mlir::failed(fuse(*clone, target, probe)))
    return diagnostics.error("cannot fuse the quantised network", "fuse");
  Result<Graph> read = readGraph(*clone, module->constants);
  if (!read)
    return read.error();
  return std::make_shared<const Graph>(std::move(*read));
}
