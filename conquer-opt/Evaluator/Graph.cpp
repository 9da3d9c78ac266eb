//===- Graph.cpp - a function as plain data ---------------------------------------------------===//

#include "conquer-opt/Evaluator/Graph.h"

#include <algorithm>
#include <cstring>
#include <set>

using namespace conquer;

size_t conquer::elementBytes(ElementType type) {
  switch (type) {
  case ElementType::Bool:
  case ElementType::I4:
  case ElementType::I8:
    return 1;
  case ElementType::I16:
  case ElementType::BF16:
  case ElementType::F16:
    return 2;
  case ElementType::I32:
  case ElementType::F32:
    return 4;
  case ElementType::I48:
  case ElementType::I64:
  case ElementType::Shape:
    return 8;
  }
  return 0;
}

const char *conquer::elementName(ElementType type) {
  switch (type) {
  case ElementType::Bool:
    return "i1";
  case ElementType::I4:
    return "i4";
  case ElementType::I8:
    return "i8";
  case ElementType::I16:
    return "i16";
  case ElementType::I32:
    return "i32";
  case ElementType::I48:
    return "i48";
  case ElementType::I64:
    return "i64";
  case ElementType::Shape:
    return "shape";
  case ElementType::F32:
    return "f32";
  case ElementType::BF16:
    return "bf16";
  case ElementType::F16:
    return "f16";
  }
  return "";
}

Buffer::Buffer(size_t size)
    : storage(new char[size + 128], std::default_delete<char[]>()), bytes(size) {
  auto address = reinterpret_cast<uintptr_t>(storage.get());
  start = storage.get() + ((64 - address % 64) % 64);
}

int64_t Value::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::string Value::typeName() const {
  std::string text;
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + elementName(type);
}

// Eight bytes a step through a 128-bit multiplication, as wyhash does; constants are random odd
// numbers.
uint64_t conquer::hashBytes(const void *data, size_t size, uint64_t seed) {
  auto mix = [](uint64_t a, uint64_t b) {
    unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  const char *bytes = static_cast<const char *>(data);
  uint64_t state = mix(seed ^ 0x9e3779b97f4a7c15ull, size ^ 0xe7037ed1a0b428dbull);
  for (; size >= 8; size -= 8, bytes += 8) {
    uint64_t word;
    std::memcpy(&word, bytes, 8);
    state = mix(state ^ word, 0xa0761d6478bd642full) + word;
  }
  uint64_t rest = 0;
  if (size)
    std::memcpy(&rest, bytes, size);
  return mix(state ^ rest ^ 0x8ebc6af09c88c6e3ull, 0x589965cc75374cc3ull);
}

namespace {

uint64_t hashText(const std::string &text, uint64_t seed) {
  return hashBytes(text.data(), text.size(), seed);
}

uint64_t hashAttribute(const NodeAttribute &attribute, uint64_t seed) {
  seed = hashBytes("attribute", attribute.index(), seed);
  if (auto *integer = std::get_if<int64_t>(&attribute))
    return hashBytes(integer, sizeof *integer, seed);
  if (auto *number = std::get_if<double>(&attribute))
    return hashBytes(number, sizeof *number, seed);
  if (auto *text = std::get_if<std::string>(&attribute))
    return hashText(*text, seed);
  const auto &list = std::get<std::vector<int64_t>>(attribute);
  return hashBytes(list.data(), list.size() * sizeof(int64_t), seed);
}

} // namespace

void conquer::hashValues(Graph &graph) {
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    Value &value = graph.values[graph.inputs[i]];
    value.hash = hashText(value.typeName(), hashBytes(&i, sizeof i, 1));
  }
  for (Value &value : graph.values)
    if (value.constant)
      value.hash =
          hashBytes(value.constant->data(), value.constant->size(), hashText(value.typeName(), 2));
  for (const Node &node : graph.nodes) {
    uint64_t hash = hashText(node.op, 3);
    for (const auto &[name, attribute] : node.attributes)
      hash = hashAttribute(attribute, hashText(name, hash));
    for (int input : node.inputs)
      hash = hashBytes(&graph.values[input].hash, sizeof hash, hash);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Value &value = graph.values[node.outputs[i]];
      value.hash = hashText(value.typeName(), hashBytes(&i, sizeof i, hash));
    }
  }
}

bool conquer::isExact(const Graph &graph) {
  // Each of these rounds at most once. A float mul that an add follows may be contracted, but a
  // float add makes the graph inexact anyway.
  static const std::set<std::string_view> exactOps = {
      "tosa.cast", "tosa.clamp",   "tosa.concat",     "tosa.const", "tosa.maximum",  "tosa.minimum",
      "tosa.pad",  "tosa.reshape", "tosa.max_pool2d", "tosa.slice", "tosa.transpose"};
  auto isFloat = [&](int value) {
    ElementType type = graph.values[value].type;
    return type == ElementType::F32 || type == ElementType::BF16 || type == ElementType::F16;
  };
  auto isConstant = [&](int value) { return graph.values[value].constant != nullptr; };
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node &node) {
    bool ofFloats = std::any_of(node.inputs.begin(), node.inputs.end(),
                                [&](int value) { return isFloat(value) && !isConstant(value); });
    if (!ofFloats)
      return true; // constants, integers, or one rounding of their results
    if (node.op == "tosa.mul")
      return std::any_of(node.inputs.begin(), node.inputs.begin() + 2, isConstant);
    return exactOps.count(node.op) != 0;
  });
}
