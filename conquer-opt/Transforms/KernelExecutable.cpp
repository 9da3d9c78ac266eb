//===- KernelExecutable.cpp - the executable that calls the kernels ---------------------------===//

#include "conquer-opt/Transforms/KernelExecutable.h"

#include "conquer-opt/Transforms/IreeDialects.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace {

constexpr llvm::StringLiteral executableName = "cq_kernels";

/// An op of one of IREE's dialects.
Operation *createOpaque(OpBuilder &builder, StringRef name, ValueRange operands, TypeRange results,
                        ArrayRef<NamedAttribute> attributes, unsigned regions = 0) {
  OperationState state(builder.getUnknownLoc(), name, operands, results, attributes);
  for (unsigned i = 0; i < regions; ++i)
    state.addRegion();
  return builder.create(state);
}

/// Where IREE looks for the object: its name in --iree-hal-executable-object-search-path.
Attribute objectsAttr(MLIRContext *context, const conquer::Profile &profile) {
  StringRef format = profile.arch == "aarch64" ? "embedded-elf-arm_64" : "embedded-elf-x86_64";
  std::string text = "executable.objects<{#hal.executable.target<\"llvm-cpu\", \"" + format.str() +
                     "\"> = [#hal.executable.object<{path = \"cq_" + profile.kernelLevel +
                     ".o\"}>]}>";
  return OpaqueAttr::get(StringAttr::get(context, conquer::HalDialect::getDialectNamespace()), text,
                         NoneType::get(context));
}

} // namespace

conquer::KernelExecutable::KernelExecutable(ModuleOp module, const Profile &profile)
    : builder(module.getBodyRegion()), level(profile.kernelLevel) {
  SmallVector<NamedAttribute> attributes = {
      builder.getNamedAttr("sym_name", builder.getStringAttr(executableName)),
      builder.getNamedAttr("sym_visibility", builder.getStringAttr("private")),
      builder.getNamedAttr("hal.executable.objects", objectsAttr(module.getContext(), profile))};
  executable = createOpaque(builder, "stream.executable", {}, {}, attributes, /*regions=*/1);
  builder.createBlock(&executable->getRegion(0));
  inner = ModuleOp::create(builder, builder.getUnknownLoc());
  createOpaque(builder, "stream.executable.end", {}, {}, {});
}

SymbolRefAttr conquer::KernelExecutable::getExport(StringRef kernel, ArrayRef<Type> elementTypes) {
  if (!inner.lookupSymbol(kernel)) {
    addExport(kernel);
    addFunction(kernel, elementTypes);
  }
  return SymbolRefAttr::get(builder.getStringAttr(executableName),
                            FlatSymbolRefAttr::get(builder.getContext(), kernel));
}

void conquer::KernelExecutable::addExport(StringRef kernel) {
  SmallVector<NamedAttribute> attributes = {
      builder.getNamedAttr("sym_name", builder.getStringAttr(kernel)),
      builder.getNamedAttr("sym_visibility", builder.getStringAttr("public")),
      builder.getNamedAttr("function_ref", FlatSymbolRefAttr::get(builder.getContext(), kernel))};
  builder.setInsertionPoint(inner);
  Operation *op = createOpaque(builder, "stream.executable.export", {}, {}, attributes, 1);
  Location loc = builder.getUnknownLoc();
  Block *block = builder.createBlock(&op->getRegion(0), {}, builder.getIndexType(), loc);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  createOpaque(builder, "stream.return", {block->getArgument(0), one, one}, {}, {});
}

void conquer::KernelExecutable::addFunction(StringRef kernel, ArrayRef<Type> elementTypes) {
  Location loc = builder.getUnknownLoc();
  Type index = builder.getIndexType();
  SmallVector<Type> parameters;
  for (Type type : elementTypes)
    parameters.push_back(MemRefType::get({1}, type)); // a plain pointer: see llvm.bareptr
  parameters.append({index, index});                  // workgroup, workgroup count
  builder.setInsertionPointToEnd(inner.getBody());
  auto external = func::FuncOp::create(builder, loc, (kernel + "_" + level).str(),
                                       builder.getFunctionType(parameters, {}));
  external.setPrivate();
  external->setAttr("hal.import.static", builder.getUnitAttr());
  external->setAttr("llvm.bareptr", builder.getBoolAttr(true));

  Type binding =
      OpaqueType::get(builder.getStringAttr(StreamDialect::getDialectNamespace()), "binding");
  SmallVector<Type> bindings(elementTypes.size(), binding);
  auto caller = func::FuncOp::create(builder, loc, kernel, builder.getFunctionType(bindings, {}));
  builder.setInsertionPointToStart(caller.addEntryBlock());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> arguments;
  for (auto [argument, type] : llvm::zip_first(caller.getArguments(), parameters))
    arguments.push_back(
        createOpaque(builder, "stream.binding.subspan", {argument, zero}, type, {})->getResult(0));
  NamedAttribute dimension = builder.getNamedAttr("dimension", builder.getIndexAttr(0));
  for (StringRef name : {"hal.interface.workgroup.id", "hal.interface.workgroup.count"})
    arguments.push_back(createOpaque(builder, name, {}, index, dimension)->getResult(0));
  func::CallOp::create(builder, loc, external, arguments);
  func::ReturnOp::create(builder, loc);
}
