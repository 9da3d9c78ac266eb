//===- OnnxModel.cpp - an ONNX file as plain, checked data ------------------------------------===//
#include "conquer-opt/Import/OnnxModel.h"

#include "onnx.pb.h"

#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <cstring>
#include <fstream>

namespace conquer::importer {

int64_t elementCount(const Shape &shape) {
  int64_t count = 1;
  for (int64_t dim : shape) {
    if (dim < 0 || dim > maxElements)
      return -1;
    count *= dim;
    if (count > maxElements)
      return -1;
  }
  return count;
}

std::string toString(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

int64_t Node::getInt(const std::string &attribute, int64_t absent) const {
  auto it = attributes.find(attribute);
  return it == attributes.end() ? absent : it->second.i;
}

float Node::getFloat(const std::string &attribute, float absent) const {
  auto it = attributes.find(attribute);
  return it == attributes.end() ? absent : it->second.f;
}

std::string Node::getString(const std::string &attribute, const std::string &absent) const {
  auto it = attributes.find(attribute);
  return it == attributes.end() ? absent : it->second.s;
}

std::vector<int64_t> Node::getInts(const std::string &attribute,
                                   const std::vector<int64_t> &absent) const {
  auto it = attributes.find(attribute);
  return it == attributes.end() ? absent : it->second.ints;
}

namespace {

/// Reads `count` little-endian elements of type From and appends them as type To.
template <typename From, typename To>
bool appendRaw(const std::string &raw, int64_t count, std::vector<To> &out) {
  if (raw.size() != static_cast<uint64_t>(count) * sizeof(From))
    return false;
  out.reserve(count);
  for (int64_t i = 0; i < count; ++i) {
    From element;
    std::memcpy(&element, raw.data() + i * sizeof(From), sizeof(From));
    out.push_back(static_cast<To>(element));
  }
  return true;
}

/// The same from one of protobuf's typed repeated fields.
template <typename Field, typename To>
bool appendTyped(const Field &field, int64_t count, std::vector<To> &out) {
  if (field.size() != count)
    return false;
  out.assign(field.begin(), field.end());
  return true;
}

template <typename From, typename Field, typename To>
bool append(const ::onnx::TensorProto &proto, const Field &field, int64_t count,
            std::vector<To> &out) {
  return proto.has_raw_data() ? appendRaw<From>(proto.raw_data(), count, out)
                              : appendTyped(field, count, out);
}

/// Fills the elements of a tensor whose shape is set. Returns false if the data has another size;
/// `known` tells whether the element type is one that we read.
bool readElements(const ::onnx::TensorProto &proto, int64_t count, Tensor &tensor, bool &known) {
  using P = ::onnx::TensorProto;
  known = true;
  tensor.isFloat = proto.data_type() == P::FLOAT || proto.data_type() == P::DOUBLE;
  switch (proto.data_type()) {
  case P::FLOAT:
    return append<float>(proto, proto.float_data(), count, tensor.floats);
  case P::DOUBLE:
    return append<double>(proto, proto.double_data(), count, tensor.floats);
  case P::INT64:
    return append<int64_t>(proto, proto.int64_data(), count, tensor.ints);
  case P::INT32:
    return append<int32_t>(proto, proto.int32_data(), count, tensor.ints);
  case P::BOOL:
    return append<uint8_t>(proto, proto.int32_data(), count, tensor.ints);
  default:
    known = false;
    return false;
  }
}

Result<Tensor> readTensor(const ::onnx::TensorProto &proto, const std::string &where) {
  Tensor tensor;
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  int64_t count = elementCount(tensor.shape);
  if (count < 0)
    return Error{"tensor of shape " + toString(tensor.shape), where,
                 "dimensions of at least 0 and at most 2^31 elements", ""};
  if (proto.data_location() == ::onnx::TensorProto::EXTERNAL)
    return Error{"the tensor's data is in another file", where, "data inside the model",
                 "run `conquer import`, which loads it"};
  bool known;
  if (readElements(proto, count, tensor, known))
    return tensor;
  if (!known)
    return Error{"tensor of element type " + std::to_string(proto.data_type()), where,
                 "float, double, int64, int32 or bool",
                 "export the model in float32 without quantisation"};
  return Error{"the tensor's data does not have the size of its shape " + toString(tensor.shape),
               where, std::to_string(count) + " elements", "export the model again"};
}

Result<Attribute> readAttribute(const ::onnx::AttributeProto &proto, const std::string &where) {
  using P = ::onnx::AttributeProto;
  Attribute attribute;
  switch (proto.type()) {
  case P::INT:
    attribute.kind = Attribute::Kind::Int;
    attribute.i = proto.i();
    break;
  case P::FLOAT:
    attribute.kind = Attribute::Kind::Float;
    attribute.f = proto.f();
    break;
  case P::STRING:
    attribute.kind = Attribute::Kind::String;
    attribute.s = proto.s();
    break;
  case P::INTS:
    attribute.kind = Attribute::Kind::Ints;
    attribute.ints.assign(proto.ints().begin(), proto.ints().end());
    break;
  case P::FLOATS:
    attribute.kind = Attribute::Kind::Floats;
    attribute.floats.assign(proto.floats().begin(), proto.floats().end());
    break;
  case P::TENSOR: {
    attribute.kind = Attribute::Kind::Tensor;
    Result<Tensor> tensor = readTensor(proto.t(), where + ": attribute '" + proto.name() + "'");
    if (!tensor)
      return tensor.error();
    attribute.tensor = std::move(*tensor);
    break;
  }
  default:
    break;
  }
  return attribute;
}

Result<Node> readNode(const ::onnx::NodeProto &proto, size_t index, const std::string &path) {
  Node node;
  node.op = proto.op_type();
  node.name = proto.name().empty() ? node.op + "_" + std::to_string(index) : proto.name();
  node.inputs.assign(proto.input().begin(), proto.input().end());
  while (!node.inputs.empty() && node.inputs.back().empty())
    node.inputs.pop_back();
  node.outputs.assign(proto.output().begin(), proto.output().end());
  std::string where = path + ": node '" + node.name + "' (" + node.op + ")";
  if (!proto.domain().empty() && proto.domain() != "ai.onnx")
    return Error{"operator of domain '" + proto.domain() + "'", where, "an operator of ONNX", ""};
  for (const ::onnx::AttributeProto &attribute : proto.attribute()) {
    Result<Attribute> value = readAttribute(attribute, where);
    if (!value)
      return value.error();
    node.attributes[attribute.name()] = std::move(*value);
  }
  return node;
}

/// The static shape of a graph input or output; hasShape is false where a dimension is not fixed.
GraphValue readValue(const ::onnx::ValueInfoProto &proto) {
  GraphValue value;
  value.name = proto.name();
  const ::onnx::TypeProto_Tensor &type = proto.type().tensor_type();
  value.hasShape = proto.type().has_tensor_type() && type.has_shape();
  if (!value.hasShape)
    return value;
  for (const ::onnx::TensorShapeProto_Dimension &dim : type.shape().dim()) {
    value.hasShape &= dim.has_dim_value() && dim.dim_value() > 0;
    value.shape.push_back(dim.dim_value());
  }
  value.hasShape &= elementCount(value.shape) > 0;
  return value;
}

Status readInputs(const ::onnx::GraphProto &graph, Model &model) {
  for (const ::onnx::ValueInfoProto &proto : graph.input()) {
    if (model.constants.count(proto.name()))
      continue;
    GraphValue value = readValue(proto);
    std::string where = model.path + ": input '" + proto.name() + "'";
    if (proto.type().tensor_type().elem_type() != ::onnx::TensorProto::FLOAT)
      return Error{"the input is not a float32 tensor", where, "float32", ""};
    if (!value.hasShape)
      return Error{"the input has no static shape of at most 2^31 elements", where,
                   "positive dimensions", "give them with `conquer import --dim name=size`"};
    model.inputs.push_back(std::move(value));
  }
  return success();
}

Status readGraph(const ::onnx::GraphProto &graph, Model &model) {
  for (const ::onnx::TensorProto &proto : graph.initializer()) {
    Result<Tensor> tensor = readTensor(proto, model.path + ": initialiser '" + proto.name() + "'");
    if (!tensor)
      return tensor.error();
    model.constants[proto.name()] = std::move(*tensor);
  }
  if (graph.sparse_initializer_size() != 0)
    return Error{"the model has sparse initialisers", model.path, "dense tensors", ""};
  if (Status inputs = readInputs(graph, model); !inputs)
    return inputs;
  for (const ::onnx::ValueInfoProto &proto : graph.output())
    model.outputs.push_back(readValue(proto));
  if (model.outputs.empty())
    return Error{"the graph has no outputs", model.path, "at least one", ""};
  for (int index = 0; index < graph.node_size(); ++index) {
    Result<Node> node = readNode(graph.node(index), index, model.path);
    if (!node)
      return node.error();
    model.nodes.push_back(std::move(*node));
  }
  return success();
}

} // namespace

Result<Model> readOnnxModel(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Error{"cannot read the file", path, "an ONNX model", "check the path"};
  // The parser's complaints would go to stderr; ours says all there is to say.
  ::google::protobuf::SetLogHandler(nullptr);
  ::google::protobuf::io::IstreamInputStream stream(&file);
  ::onnx::ModelProto proto;
  if (!proto.ParseFromZeroCopyStream(&stream) || file.bad())
    return Error{"the file is not an ONNX model, or is truncated", path, "a protobuf of ONNX", ""};
  if (!proto.has_graph())
    return Error{"the file holds no graph", path, "an ONNX model", ""};
  Model model;
  model.path = path;
  for (const ::onnx::OperatorSetIdProto &opset : proto.opset_import())
    if (opset.domain().empty() || opset.domain() == "ai.onnx")
      model.opset = opset.version();
  // From 21 to 28 the operators we know gained element types and nothing else.
  if (model.opset < 7 || model.opset > 28)
    return Error{"operator set " + std::to_string(model.opset), path, "7 to 28",
                 "run `conquer import`, which converts it"};
  if (Status graph = readGraph(proto.graph(), model); !graph)
    return graph.error();
  return model;
}

} // namespace conquer::importer
