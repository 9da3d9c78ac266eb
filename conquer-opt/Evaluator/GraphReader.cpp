//===- GraphReader.cpp - func @main as a Graph ------------------------------------------------===//

#include "conquer-opt/Evaluator/GraphReader.h"

#include "conquer-opt/IR/Conquer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <optional>

using namespace mlir;
using conquer::Buffer;
using conquer::ElementType;
using conquer::Error;
using conquer::Graph;
using conquer::Node;
using conquer::NodeAttribute;
using conquer::Result;
using conquer::Status;

namespace {

constexpr int64_t maxElements = int64_t(1) << 31;

std::optional<ElementType> elementTypeOf(Type type) {
  if (type.isF32())
    return ElementType::F32;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF16())
    return ElementType::F16;
  if (type.isIndex())
    return ElementType::Shape;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isUnsigned())
    return std::nullopt;
  switch (integer.getWidth()) {
  case 1:
    return ElementType::Bool;
  case 4:
    return ElementType::I4;
  case 8:
    return ElementType::I8;
  case 16:
    return ElementType::I16;
  case 32:
    return ElementType::I32;
  case 48:
    return ElementType::I48;
  case 64:
    return ElementType::I64;
  default:
    return std::nullopt;
  }
}

std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

template <typename T> void widen(DenseElementsAttr elements, Buffer &buffer) {
  auto *out = reinterpret_cast<T *>(buffer.data());
  for (const APInt &value : elements.getValues<APInt>())
    *out++ = static_cast<T>(value.getSExtValue());
}

class Reader {
public:
  explicit Reader(conquer::ConstantCache &constants) : constants(constants) {}
  Result<Graph> read(func::FuncOp function);

private:
  conquer::ConstantCache &constants;
  Graph graph;
  llvm::DenseMap<mlir::Value, int> indices;

  Error error(Operation *op, const std::string &what) {
    return {op->getName().getStringRef().str() + ": " + what, conquer::getId(op).str(), "", ""};
  }
  Status addValue(mlir::Value value, StringRef id, Operation *op);
  Status addConstant(Operation *op);
  Status addNode(Operation *op);
  Result<NodeAttribute> readAttribute(mlir::Attribute attribute, Operation *op);
  Result<Buffer> readElements(ElementsAttr elements, const conquer::Value &value, Operation *op);
};

Status Reader::addValue(mlir::Value value, StringRef id, Operation *op) {
  conquer::Value result;
  result.id = id.str();
  if (auto shape = dyn_cast<tosa::shapeType>(value.getType())) {
    result.type = ElementType::Shape;
    result.shape = {shape.getRank()};
  } else {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape())
      return error(op, "value of type " + print(value.getType()) + " has no static shape");
    std::optional<ElementType> element = elementTypeOf(type.getElementType());
    if (!element)
      return error(op, "the evaluator has no element type " + print(type.getElementType()));
    result.type = *element;
    result.shape.assign(type.getShape().begin(), type.getShape().end());
    int64_t elements = 1;
    for (int64_t size : result.shape)
      if (__builtin_mul_overflow(elements, size, &elements) || elements > maxElements)
        return error(op, "value of type " + print(type) + " is too large");
  }
  indices[value] = graph.values.size();
  graph.values.push_back(std::move(result));
  return conquer::success();
}

Result<Buffer> Reader::readElements(ElementsAttr elements, const conquer::Value &value,
                                    Operation *op) {
  Buffer buffer(value.bytes());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != buffer.size())
      return error(op, "the constant's resource is missing or has another size");
    std::memcpy(buffer.data(), blob->getData().data(), buffer.size());
    return buffer;
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense || dense.getNumElements() != value.elements())
    return error(op, "the constant is not dense");
  if (value.type == ElementType::Bool || value.type == ElementType::I4) {
    widen<int8_t>(dense, buffer);
    if (value.type == ElementType::Bool)
      for (size_t i = 0; i < buffer.size(); ++i)
        buffer.data()[i] &= 1;
    return buffer;
  }
  if (value.type == ElementType::I48) {
    widen<int64_t>(dense, buffer);
    return buffer;
  }
  ArrayRef<char> raw = dense.getRawData();
  size_t width = conquer::elementBytes(value.type);
  if (raw.size() != (dense.isSplat() ? width : buffer.size()))
    return error(op, "the constant has another size than its type");
  for (size_t at = 0; at < buffer.size(); at += raw.size())
    std::memcpy(buffer.data() + at, raw.data(), raw.size());
  return buffer;
}

Status Reader::addConstant(Operation *op) {
  auto elements = op->getAttrOfType<ElementsAttr>("values");
  if (!elements || op->getNumResults() != 1)
    return error(op, "constant without values");
  if (Status status = addValue(op->getResult(0), conquer::getId(op), op); !status)
    return status;
  conquer::Value &value = graph.values.back();
  conquer::ConstantCache::Entry &entry = constants.entries[elements];
  value.constant = entry.buffer.lock();
  value.hash = entry.hash;
  if (value.constant)
    return conquer::success();
  Result<Buffer> buffer = readElements(elements, value, op);
  if (!buffer)
    return buffer.error();
  value.constant = std::make_shared<const Buffer>(*buffer);
  std::string type = value.typeName();
  value.hash = conquer::hashBytes(buffer->data(), buffer->size(),
                                  conquer::hashBytes(type.data(), type.size(), 2));
  entry = {value.constant, value.hash};
  return conquer::success();
}

Result<NodeAttribute> Reader::readAttribute(mlir::Attribute attribute, Operation *op) {
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return NodeAttribute(int64_t(flag.getValue()));
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return NodeAttribute(integer.getValue().getSExtValue());
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return NodeAttribute(number.getValueAsDouble());
  if (auto text = dyn_cast<StringAttr>(attribute))
    return NodeAttribute(text.getValue().str());
  auto list = [](auto values) {
    return NodeAttribute(std::vector<int64_t>(values.begin(), values.end()));
  };
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute))
    return list(array.asArrayRef());
  if (auto array = dyn_cast<DenseI32ArrayAttr>(attribute))
    return list(array.asArrayRef());
  if (isa<TypeAttr>(attribute))
    return NodeAttribute(print(cast<TypeAttr>(attribute).getValue()));
  // Enumerations print as #tosa.rounding_mode<SINGLE_ROUND>.
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  size_t open = text.find('<'), close = text.rfind('>');
  if (open == std::string::npos || close == std::string::npos || close < open)
    return error(op, "attribute " + text + " is of an unknown kind");
  return NodeAttribute(text.substr(open + 1, close - open - 1));
}

Status Reader::addNode(Operation *op) {
  if (isa<tosa::ConstOp, tosa::ConstShapeOp>(op))
    return addConstant(op);
  if (op->getNumRegions() != 0)
    return error(op, "the evaluator runs no operations with regions");
  Node node;
  node.op = op->getName().getStringRef().str();
  node.id = conquer::getId(op).str();
  for (NamedAttribute named : op->getAttrDictionary()) {
    // Names, ranges and the like say nothing about the result.
    if (named.getName().strref().starts_with("conquer."))
      continue;
    Result<NodeAttribute> attribute = readAttribute(named.getValue(), op);
    if (!attribute)
      return attribute.error();
    node.attributes[named.getName().str()] = *attribute;
  }
  for (mlir::Value operand : op->getOperands())
    node.inputs.push_back(indices.lookup(operand));
  for (OpResult result : op->getResults()) {
    if (Status status = addValue(result, result.getResultNumber() == 0 ? node.id : "", op); !status)
      return status;
    node.outputs.push_back(graph.values.size() - 1);
  }
  graph.nodes.push_back(std::move(node));
  return conquer::success();
}

Result<Graph> Reader::read(func::FuncOp function) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return error(function, "the function has no body of one block");
  for (BlockArgument argument : function.getArguments()) {
    auto id = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), conquer::idAttrName);
    if (Status status = addValue(argument, id ? id.getValue() : "", function); !status)
      return status.error();
    graph.inputs.push_back(graph.values.size() - 1);
  }
  for (Operation &op : function.getBody().front()) {
    if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      for (mlir::Value operand : ret.getOperands())
        graph.outputs.push_back(indices.lookup(operand));
      continue;
    }
    if (Status status = addNode(&op); !status)
      return status.error();
  }
  for (unsigned i = 0; i < graph.outputs.size(); ++i) {
    auto id = function.getResultAttrOfType<StringAttr>(i, conquer::idAttrName);
    graph.outputIds.push_back(id ? id.getValue().str() : "");
  }
  conquer::hashValues(graph);
  return std::move(graph);
}

} // namespace

Result<Graph> conquer::readGraph(ModuleOp module, ConstantCache &constants) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!function) {
    auto functions = module.getOps<func::FuncOp>();
    if (!llvm::hasSingleElement(functions))
      return Error{"the module has no function main", "", "one function main", ""};
    function = *functions.begin();
  }
  return Reader(constants).read(function);
}
