//===- OnnxImport.cpp - ONNX models into TOSA -------------------------------------------------===//
#include "conquer-opt/Import/OnnxImport.h"

#include "conquer-opt/Import/NodeContext.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

namespace conquer {
namespace importer {
namespace {

const char *kindName(Attribute::Kind kind) {
  switch (kind) {
  case Attribute::Kind::Int:
    return "int";
  case Attribute::Kind::Float:
    return "float";
  case Attribute::Kind::String:
    return "string";
  case Attribute::Kind::Ints:
    return "ints";
  case Attribute::Kind::Floats:
    return "floats";
  case Attribute::Kind::Tensor:
    return "tensor";
  case Attribute::Kind::Other:
    break;
  }
  return "unknown kind";
}

class ModelImporter {
public:
  ModelImporter(mlir::MLIRContext &context, const Model &onnxModel)
      : model(onnxModel), context(context), module(mlir::ModuleOp::create(location("module"))),
        emit(mlir::OpBuilder(&context)) {}

  Result<mlir::OwningOpRef<mlir::ModuleOp>> run();

private:
  mlir::Location location(const std::string &name) const {
    return mlir::NameLoc::get(mlir::StringAttr::get(&context, name));
  }
  void createFunction();
  Status checkNode(const NodeContext &at, const OpRule &rule) const;
  Status checkInputs(const NodeContext &at) const;
  Status convertNode(const Node &node);
  Status finishFunction();
  void eraseUnused();

  const Model &model;
  mlir::MLIRContext &context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  Emitter emit;
  std::map<std::string, Value> values;
  std::map<std::string, int64_t> uses;
};

void ModelImporter::createFunction() {
  std::vector<mlir::Type> arguments;
  arguments.reserve(model.inputs.size());
  for (const GraphValue &input : model.inputs)
    arguments.push_back(mlir::RankedTensorType::get(input.shape, mlir::Float32Type::get(&context)));
  mlir::OpBuilder builder(&context);
  builder.setInsertionPointToEnd(module->getBody());
  function = mlir::func::FuncOp::create(builder, location("main"), "main",
                                        builder.getFunctionType(arguments, {}));
  mlir::Block *block = function.addEntryBlock();
  for (auto [argument, input] : llvm::zip(block->getArguments(), model.inputs)) {
    argument.setLoc(location(input.name));
    function.setArgAttr(argument.getArgNumber(), "conquer.id", builder.getStringAttr(input.name));
    Value value;
    value.ssa = argument;
    value.shape = input.shape;
    values[input.name] = value;
  }
  emit.opBuilder().setInsertionPointToEnd(block);
}

Status ModelImporter::checkNode(const NodeContext &at, const OpRule &rule) const {
  const Node &node = at.node;
  size_t inputs = node.inputs.size();
  if (inputs < rule.minInputs || inputs > rule.maxInputs)
    return at.error(std::to_string(inputs) + " inputs",
                    std::to_string(rule.minInputs) + " to " + std::to_string(rule.maxInputs));
  for (size_t i = 0; i < rule.minInputs; ++i)
    if (node.inputs[i].empty())
      return at.error("input " + std::to_string(i) + " is left out", "an input");
  if (node.outputs.empty() || node.outputs.front().empty())
    return at.error("the node has no output", "an output");
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (i >= rule.maxOutputs && !node.outputs[i].empty())
      return at.error("output " + std::to_string(i),
                      "at most " + std::to_string(rule.maxOutputs) + " outputs");
    if (values.count(node.outputs[i]))
      return at.error("value '" + node.outputs[i] + "' is defined twice", "unique names");
  }
  for (const auto &[name, attribute] : node.attributes) {
    auto known = rule.attributes.find(name);
    if (known == rule.attributes.end())
      return at.error("attribute '" + name + "' is not supported");
    if (known->second != attribute.kind)
      return at.error("attribute '" + name + "' is of kind " + kindName(attribute.kind),
                      kindName(known->second));
  }
  return success();
}

/// Whether an operator reads integers from this input (shapes, axes, sizes).
bool readsIntegers(const std::string &op, size_t index) {
  static const std::set<std::string> ops = {"Dropout", "Pad",   "ReduceMean", "Reshape",
                                            "Slice",   "Split", "Squeeze",    "Unsqueeze"};
  return index > 0 && ops.count(op);
}

/// Inputs must have been defined, and constants must not be empty.
Status ModelImporter::checkInputs(const NodeContext &at) const {
  for (size_t index = 0; index < at.node.inputs.size(); ++index) {
    const std::string &name = at.node.inputs[index];
    if (name.empty())
      continue;
    auto value = values.find(name);
    if (value == values.end())
      return at.error("input '" + name + "' is not defined before the node",
                      "an input, an initialiser or the output of an earlier node",
                      "export the model again; nodes must be in topological order");
    const Tensor *constant = value->second.constant;
    if (constant && constant->isFloat && constant->floats.empty())
      return at.error("input '" + name + "' has no elements", "a tensor with elements");
    if (constant && !constant->isFloat && !readsIntegers(at.node.op, index))
      return at.error("input '" + name + "' is an integer constant", "float32",
                      "run `conquer import`, which folds constants");
  }
  return success();
}

Status ModelImporter::convertNode(const Node &node) {
  NodeContext at{model, node, emit, values, uses};
  auto rule = opRules().find(node.op);
  if (rule == opRules().end())
    return at.error("operator " + node.op + " is not supported",
                    "one of the operators listed in docs/import.md");
  if (Status good = checkNode(at, rule->second); !good)
    return good;
  if (Status good = checkInputs(at); !good)
    return good;
  emit.setNode(node.name);
  return rule->second.convert(at);
}

Status ModelImporter::finishFunction() {
  std::vector<mlir::Value> results;
  std::vector<mlir::Type> types;
  for (const GraphValue &output : model.outputs) {
    auto value = values.find(output.name);
    std::string where = model.path + ": output '" + output.name + "'";
    if (value == values.end())
      return Error{"no node computes the output", where, "a node with this output", ""};
    const Tensor *constant = value->second.constant;
    if (constant && (!constant->isFloat || constant->floats.empty()))
      return Error{"the output is an integer or empty constant", where, "float32", ""};
    if (output.hasShape && output.shape != value->second.shape)
      return Error{"the output has the shape " + toString(value->second.shape), where,
                   toString(output.shape) + " as the model says", ""};
    emit.setNode(output.name);
    results.push_back(emit.plain(value->second));
    types.push_back(results.back().getType());
  }
  mlir::func::ReturnOp::create(emit.opBuilder(), location("return"), results);
  function.setFunctionType(mlir::FunctionType::get(&context, function.getArgumentTypes(), types));
  for (auto [index, output] : llvm::enumerate(model.outputs))
    function.setResultAttr(index, "conquer.id", mlir::StringAttr::get(&context, output.name));
  return success();
}

/// Reshapes that were looked through, and values that no output needs.
void ModelImporter::eraseUnused() {
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (!mlir::isa<mlir::func::ReturnOp>(op) && op.use_empty())
      op.erase();
}

Result<mlir::OwningOpRef<mlir::ModuleOp>> ModelImporter::run() {
  createFunction();
  for (const auto &[name, tensor] : model.constants) {
    Value value;
    value.shape = tensor.shape;
    value.constant = &tensor;
    values[name] = value;
  }
  for (const Node &node : model.nodes)
    for (const std::string &input : node.inputs)
      ++uses[input];
  for (const GraphValue &output : model.outputs)
    ++uses[output.name];
  for (const Node &node : model.nodes)
    if (Status done = convertNode(node); !done)
      return done.error();
  if (Status done = finishFunction(); !done)
    return done.error();
  eraseUnused();

  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    llvm::raw_string_ostream(diagnostics) << (diagnostics.empty() ? "" : "; ") << diagnostic;
    return mlir::success();
  });
  if (mlir::failed(mlir::verify(*module)))
    return Error{"the imported module is not valid TOSA: " + diagnostics, model.path, "", ""};
  return std::move(module);
}

} // namespace
} // namespace importer

Result<mlir::OwningOpRef<mlir::ModuleOp>> importOnnx(mlir::MLIRContext &context,
                                                     const std::string &path) {
  context.loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect>();
  Result<importer::Model> model = importer::readOnnxModel(path);
  if (!model)
    return model.error();
  return importer::ModelImporter(context, *model).run();
}

} // namespace conquer
