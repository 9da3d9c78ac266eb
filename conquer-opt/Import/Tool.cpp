//===- Tool.cpp - the command line of conquer-opt --import-onnx -------------------------------===//
#include "conquer-opt/Import/OnnxImport.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/MLIRContext.h"
#include "support/Json.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace conquer {
namespace {

struct Options {
  std::string model, output = "-";
  bool bytecode = false, generic = false;
};

/// The value of an option in the forms "--name value" and "--name=value"; advances `index`.
bool takeValue(llvm::StringRef name, int argc, char **argv, int &index, std::string &value) {
  llvm::StringRef argument = argv[index];
  if (argument == name && index + 1 < argc) {
    value = argv[++index];
    return true;
  }
  if (!argument.consume_front(name) || !argument.consume_front("="))
    return false;
  value = argument.str();
  return true;
}

Result<Options> parse(int argc, char **argv) {
  Options options;
  for (int index = 1; index < argc; ++index) {
    llvm::StringRef argument = argv[index];
    if (takeValue("--import-onnx", argc, argv, index, options.model) ||
        takeValue("-o", argc, argv, index, options.output))
      continue;
    if (argument == "--emit-bytecode")
      options.bytecode = true;
    else if (argument == "--mlir-print-op-generic")
      options.generic = true;
    else
      return Error{"argument '" + argument.str() + "'", "conquer-opt --import-onnx",
                   "--import-onnx MODEL [-o FILE] [--emit-bytecode] [--mlir-print-op-generic]", ""};
  }
  return options;
}

Result<std::string> print(mlir::ModuleOp module, const Options &options) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (options.bytecode) {
    if (mlir::failed(mlir::writeBytecodeToFile(module, stream)))
      return Error{"the module cannot be written as bytecode", options.output, "", ""};
    return text;
  }
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo();
  if (options.generic)
    flags.printGenericOpForm();
  module->print(stream, flags);
  stream << "\n";
  return text;
}

Status run(const Options &options) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Result<mlir::OwningOpRef<mlir::ModuleOp>> module = importOnnx(context, options.model);
  if (!module)
    return module.error();
  Result<std::string> text = print(**module, options);
  if (!text)
    return text.error();
  if (options.output != "-")
    return writeFileAtomically(options.output, *text);
  llvm::outs() << *text;
  return success();
}

} // namespace

std::optional<int> importOnnxMain(int argc, char **argv) {
  bool ours = false;
  for (int index = 1; index < argc; ++index) {
    llvm::StringRef argument = argv[index];
    ours |= argument == "--import-onnx" || argument.starts_with("--import-onnx=");
  }
  if (!ours)
    return std::nullopt;
  Result<Options> options = parse(argc, argv);
  Status status = options ? run(*options) : Status(options.error());
  if (status)
    return 0;
  llvm::errs() << "error: " << status.error().message() << "\n";
  return 1;
}

} // namespace conquer
