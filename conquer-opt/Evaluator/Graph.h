//===- Graph.h - a function as plain data -----------------------------------------------------===//
//
// What the evaluator knows of a module: values, nodes and constants without any MLIR type, so that
// plans, steps and statistics are plain C++. GraphReader makes it from func @main.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_GRAPH_H
#define CONQUER_OPT_EVALUATOR_GRAPH_H

#include "support/Error.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace conquer {

/// Element types of prepared and quantised TOSA. Bool and I4 take one byte each, I48 and Shape
/// eight; BF16 and F16 are their bits, a uint16_t.
enum class ElementType { Bool, I4, I8, I16, I32, I48, I64, Shape, F32, BF16, F16 };

/// Bytes of one stored element.
size_t elementBytes(ElementType type);
/// "i8", "f32" ...
const char *elementName(ElementType type);

/// The elements of a constant, row by row, aligned to 64 bytes with 64 bytes to spare.
class Buffer {
public:
  Buffer() = default;
  explicit Buffer(size_t bytes);
  char *data() { return start; }
  const char *data() const { return start; }
  size_t size() const { return bytes; }

private:
  std::shared_ptr<char[]> storage;
  char *start = nullptr;
  size_t bytes = 0;
};

/// A tensor that a node reads or writes.
struct Value {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  std::shared_ptr<const Buffer> constant; ///< set for constants
  std::string id;                         ///< conquer.id of the op or argument, else empty
  /// Two values of equal hash hold equal elements for equal inputs (0 until hashValues ran).
  uint64_t hash = 0;

  int64_t elements() const;
  size_t bytes() const { return static_cast<size_t>(elements()) * elementBytes(type); }
  /// "1x28x28x32xf32".
  std::string typeName() const;
};

/// Integers and booleans, floats, enum cases and names, arrays.
using NodeAttribute = std::variant<int64_t, double, std::string, std::vector<int64_t>>;

/// One operation.
struct Node {
  std::string op; ///< "tosa.conv2d"
  std::string id; ///< conquer.id, else empty
  std::vector<int> inputs, outputs;
  std::map<std::string, NodeAttribute> attributes; ///< without conquer.*
};

/// A function: nodes in execution order.
struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<int> inputs, outputs;
  std::vector<std::string> outputIds; ///< conquer.id of each result of the function, may be empty
};

/// Fills Value::hash from operations, attributes and the contents of constants (unless they have
/// one). Inputs hash by position, so that the same computation in two modules of one network has
/// the same hash.
void hashValues(Graph &graph);

/// Whether every target that rounds correctly computes the same outputs: the graph has no sums of
/// floats, whose order is free, and no function that targets approximate. Conversions are exact.
bool isExact(const Graph &graph);

/// 64-bit hash of bytes; `seed` chains calls.
uint64_t hashBytes(const void *data, size_t size, uint64_t seed);

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_GRAPH_H
