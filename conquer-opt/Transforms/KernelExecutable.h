//===- KernelExecutable.h - the executable that calls the kernels -----------------------------===//
#ifndef CONQUER_OPT_TRANSFORMS_KERNELEXECUTABLE_H
#define CONQUER_OPT_TRANSFORMS_KERNELEXECUTABLE_H

#include "hardware/Profile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace conquer {

/// One `stream.executable` of a module: it links the object of the profile's kernel level and has
/// one export per kernel used. Pointers carry no shape, so one export serves every layer that calls
/// the kernel.
class KernelExecutable {
public:
  /// Adds the executable at the start of `module`.
  KernelExecutable(mlir::ModuleOp module, const Profile &profile);

  /// The export that calls `<kernel>_<level>`, made on first use. The binding types say what the
  /// kernel's pointers point to; the last one is the output. A dispatch of it has one workload
  /// value, the number of workgroups.
  mlir::SymbolRefAttr getExport(llvm::StringRef kernel, llvm::ArrayRef<mlir::Type> elementTypes);

private:
  void addExport(llvm::StringRef kernel);
  void addFunction(llvm::StringRef kernel, llvm::ArrayRef<mlir::Type> elementTypes);

  mlir::OpBuilder builder;
  std::string level;
  mlir::Operation *executable = nullptr;
  mlir::ModuleOp inner;
};

} // namespace conquer

#endif // CONQUER_OPT_TRANSFORMS_KERNELEXECUTABLE_H
