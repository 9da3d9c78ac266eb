//===- OnnxModel.h - an ONNX file as plain, checked data --------------------------------------===//
//
// Reads the protobuf and keeps only what the importer needs, with every size already checked: what
// comes out of readOnnxModel can be walked without asking twice. Knows nothing of MLIR, so that the
// protobuf headers (and their need for exceptions) stay in one file.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_IMPORT_ONNXMODEL_H
#define CONQUER_OPT_IMPORT_ONNXMODEL_H

#include "support/Error.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace conquer::importer {

using Shape = std::vector<int64_t>;

/// The largest number of elements a tensor may have. Keeps every later product in 64 bits.
constexpr int64_t maxElements = int64_t(1) << 31;

/// Product of the dimensions; -1 if one is negative or the product exceeds maxElements.
int64_t elementCount(const Shape &shape);
/// "[1, 3, 224, 224]"
std::string toString(const Shape &shape);

/// A constant. Real types are read as f32, integer types and bool as i64; `shape` has exactly as
/// many elements as the vector in use.
struct Tensor {
  Shape shape;
  bool isFloat = true;
  std::vector<float> floats;
  std::vector<int64_t> ints;
};

struct Attribute {
  enum class Kind { Int, Float, String, Ints, Floats, Tensor, Other };
  Kind kind = Kind::Other;
  int64_t i = 0;
  float f = 0;
  std::string s;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  Tensor tensor;
};

struct Node {
  std::string name; ///< never empty: the operator and its index where the file has none
  std::string op;
  std::vector<std::string> inputs; ///< "" where an optional input is left out; none at the end
  std::vector<std::string> outputs;
  std::map<std::string, Attribute> attributes;

  bool has(const std::string &attribute) const { return attributes.count(attribute) != 0; }
  /// The attribute, or the default where it is absent. The kind has been checked by the op table.
  int64_t getInt(const std::string &attribute, int64_t absent) const;
  float getFloat(const std::string &attribute, float absent) const;
  std::string getString(const std::string &attribute, const std::string &absent) const;
  std::vector<int64_t> getInts(const std::string &attribute,
                               const std::vector<int64_t> &absent) const;
};

/// A graph input or output.
struct GraphValue {
  std::string name;
  Shape shape;          ///< static; for an output empty together with hasShape == false if unknown
  bool hasShape = true; ///< always true for inputs
};

struct Model {
  std::string path;  ///< as given; begins every message
  int64_t opset = 0; ///< version of the default operator set
  std::vector<Node> nodes;
  std::map<std::string, Tensor> constants;
  std::vector<GraphValue> inputs;  ///< f32, without the initialisers
  std::vector<GraphValue> outputs; ///< at least one
};

/// Reads and checks a file. Errors: unreadable or truncated file, no graph, tensors whose data does
/// not have the size that their shape says, external data, element types the importer does not
/// know, inputs that are not f32 of a static shape, operators of another domain.
Result<Model> readOnnxModel(const std::string &path);

} // namespace conquer::importer

#endif // CONQUER_OPT_IMPORT_ONNXMODEL_H
