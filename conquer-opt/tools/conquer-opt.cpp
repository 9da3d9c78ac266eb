//===- conquer-opt.cpp - the compiler's driver ------------------------------------------------===//
//
// Reads MLIR (text or bytecode), runs the pipelines named on the command line and writes the
// result: the usual mlir-opt interface, plus a few questions about the build and the target.
//
//   conquer-opt --import-onnx model.onnx -o model.tosa.mlir
//   conquer-opt prepared.mlir --conquer-quantize-pipeline=... --conquer-fuse-pipeline=... -o f.mlir
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Import/OnnxImport.h"
#include "conquer-opt/Pipelines/Fuse.h"
#include "conquer-opt/Pipelines/Latency.h"
#include "conquer-opt/Pipelines/Lower.h"
#include "conquer-opt/Pipelines/Prepare.h"
#include "conquer-opt/Pipelines/Quantize.h"
#include "conquer-opt/Transforms/Passes.h"
#include "hardware/Profile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

namespace {

cl::OptionCategory category("CONQuER");
cl::opt<std::string> showProfile("show-profile",
                                 cl::desc("print the named target profile as JSON and exit"),
                                 cl::value_desc("name, file or 'host'"), cl::cat(category));
cl::opt<std::string> profileDir("profile-dir",
                                cl::desc("folder of the profiles that --show-profile looks in"),
                                cl::value_desc("folder"), cl::cat(category));

void printVersion(llvm::raw_ostream &os) {
  os << "conquer-opt " CONQUER_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
}

/// One user's mistake on stderr, as every other message of this program.
int fail(const conquer::Error &error) {
  llvm::errs() << "error: " << error.message() << "\n";
  return 1;
}

int printProfile() {
  std::string folder = profileDir.empty() ? conquer::defaultProfileFolder() : profileDir;
  auto profile = conquer::loadProfile(showProfile, folder);
  if (!profile)
    return fail(profile.error());
  llvm::outs() << profile->toJson() << "\n";
  return 0;
}

void registerPasses() {
  mlir::registerTransformsPasses();
  mlir::tosa::registerTosaPasses();
  conquer::registerConquerPasses();
  conquer::registerPreparePipeline();
  conquer::registerQuantizePipeline();
  conquer::registerFusePipeline();
  conquer::registerLatencyPipeline();
  conquer::registerLowerPipeline();
}

/// The command line with defaults that differ from mlir-opt's:
/// * an error does not print the op, which may hold megabytes of weights;
/// * lowered IR is for iree-compile, which does not read MLIR 22's pretty form: it is written as
///   bytecode unless the generic form is asked for.
llvm::SmallVector<char *> withDefaults(int argc, char **argv) {
  static char emitBytecode[] = "--emit-bytecode";
  static char hideOps[] = "--mlir-print-op-on-diagnostic=false";
  llvm::SmallVector<char *> arguments(argv, argv + argc);
  auto hasFlag = [&](llvm::StringRef name) {
    return llvm::any_of(llvm::ArrayRef(argv, argc), [&](char *argument) {
      return llvm::StringRef(argument).ltrim('-').split('=').first == name;
    });
  };
  bool lowers = hasFlag("conquer-lower-pipeline") || hasFlag("conquer-latency-pipeline");
  if (lowers && !hasFlag("mlir-print-op-generic") && !hasFlag("emit-bytecode"))
    arguments.push_back(emitBytecode);
  if (!hasFlag("mlir-print-op-on-diagnostic"))
    arguments.push_back(hideOps);
  return arguments;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  if (std::optional<int> imported = conquer::importOnnxMain(argc, argv))
    return *imported;
  llvm::SmallVector<char *> arguments = withDefaults(argc, argv);
  argc = static_cast<int>(arguments.size());
  argv = arguments.data();
  mlir::DialectRegistry registry;
  registry.insert<conquer::ConquerDialect, conquer::FlowDialect, conquer::HalDialect,
                  conquer::StreamDialect, conquer::UtilDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect, mlir::tosa::TosaDialect>();
  registerPasses();
  cl::SetVersionPrinter(printVersion);
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "CONQuER: per-layer precision for convolutional networks", registry);
  if (showProfile.getNumOccurrences())
    return printProfile();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
}
