//===- OnnxImport.h - ONNX models into TOSA ---------------------------------------------------===//
//
// The doors of this folder: read a model into an MLIR module, and the command line of
// `conquer-opt --import-onnx`.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_IMPORT_ONNXIMPORT_H
#define CONQUER_OPT_IMPORT_ONNXIMPORT_H

#include "support/Error.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>

namespace conquer {

/// Reads a model (operator set 7 to 28, f32, static shapes) into a module with one `func.func
/// @main` of TOSA ops. Arguments and results keep the model's layout and carry its names as
/// `conquer.id`; inside, images are held N, H, W, C. Locations are node names. Loads the dialects
/// it needs. Errors name the file and the node: what cannot be read, is unsupported, or does not
/// fit.
Result<mlir::OwningOpRef<mlir::ModuleOp>> importOnnx(mlir::MLIRContext &context,
                                                     const std::string &path);

/// `conquer-opt --import-onnx MODEL [-o FILE] [--emit-bytecode] [--mlir-print-op-generic]`: the
/// exit code, or nothing where the arguments hold no --import-onnx and are meant for somebody else.
/// Writes the module with its locations to FILE (default: standard output), or one message to
/// standard error.
std::optional<int> importOnnxMain(int argc, char **argv);

} // namespace conquer

#endif // CONQUER_OPT_IMPORT_ONNXIMPORT_H
