//===- Check.cpp - a module's values against ours ---------------------------------------------===//
//
// A probed module returns all its activations. Every one of them is recomputed here from the
// module's own values of the activations before it, so that a difference names the operation that
// makes it, and compared.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Evaluator/HalfValues.h"
#include "conquer-opt/Evaluator/Session.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace conquer;

namespace {

bool sameType(NpyType stored, ElementType type) {
  switch (type) {
  case ElementType::F32:
  case ElementType::BF16:
  case ElementType::F16:
    return stored == NpyType::F32;
  case ElementType::I8:
    return stored == NpyType::I8;
  case ElementType::I16:
    return stored == NpyType::I16;
  case ElementType::I32:
    return stored == NpyType::I32;
  case ElementType::Bool:
    return stored == NpyType::Bool || stored == NpyType::I8;
  default:
    return false;
  }
}

/// The module's value number `index`. bf16 and f16 are stored as f32, which holds them exactly.
Result<Buffer> readValue(const std::string &folder, size_t index, const Value &value) {
  std::string path = folder + "/" + std::to_string(index) + ".npy";
  Result<NpyArray> array = readNpy(path);
  if (!array)
    return array.error();
  if (!sameType(array->type, value.type) || array->shape != value.shape) {
    std::string shape;
    for (int64_t size : array->shape)
      shape += std::to_string(size) + "x";
    return Error{"the value is " + shape + npyName(array->type), path, value.typeName(),
                 "probe the module of the same policy"};
  }
  Buffer buffer(value.bytes());
  if (isHalf(value.type))
    roundToHalves(value.type, array->bytes.data(), buffer.data(), value.elements());
  else
    std::memcpy(buffer.data(), array->bytes.data(), buffer.size());
  return buffer;
}

template <typename T>
void compare(const void *ours, const void *theirs, int64_t count, CheckEntry &entry) {
  const T *a = static_cast<const T *>(ours), *b = static_cast<const T *>(theirs);
  for (int64_t i = 0; i < count; ++i) {
    if (std::isfinite(double(b[i])))
      entry.maxAbsValue = std::max(entry.maxAbsValue, std::fabs(double(b[i])));
    if (a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]))
      continue;
    ++entry.differing;
    double difference = std::fabs(double(a[i]) - double(b[i]));
    // JSON has no infinity.
    entry.maxAbsDifference =
        std::max(entry.maxAbsDifference,
                 std::isfinite(difference) ? difference : std::numeric_limits<double>::max());
  }
}

void compareValue(const Value &value, const void *ours, const void *theirs, CheckEntry &entry) {
  entry.elements = value.elements();
  switch (value.type) {
  case ElementType::F32:
    return compare<float>(ours, theirs, entry.elements, entry);
  case ElementType::BF16:
  case ElementType::F16: {
    std::vector<float> a(entry.elements), b(entry.elements);
    widenHalves(value.type, ours, a.data(), entry.elements);
    widenHalves(value.type, theirs, b.data(), entry.elements);
    return compare<float>(a.data(), b.data(), entry.elements, entry);
  }
  case ElementType::I16:
    return compare<int16_t>(ours, theirs, entry.elements, entry);
  case ElementType::I32:
    return compare<int32_t>(ours, theirs, entry.elements, entry);
  default:
    return compare<int8_t>(ours, theirs, entry.elements, entry);
  }
}

} // namespace

Result<std::vector<CheckEntry>> Session::check(const Policy &policy, const std::string &folder) {
  Result<std::shared_ptr<const Graph>> probed = graphOf(&policy, true);
  if (!probed)
    return probed.error();
  const Graph &graph = **probed;
  // The function's results by value; the module writes them by number.
  std::map<int, Buffer> known;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    int value = graph.outputs[i];
    if (known.count(value))
      continue;
    Result<Buffer> buffer = readValue(folder, i, graph.values[value]);
    if (!buffer)
      return buffer.error();
    known[value] = *buffer;
  }
  std::vector<CheckEntry> entries;
  for (const Node &node : graph.nodes)
    for (int value : node.outputs) {
      if (!known.count(value))
        continue;
      PlanOptions options;
      options.wanted = {value};
      std::vector<const void *> given;
      for (const auto &[other, buffer] : known)
        if (other != value && !graph.values[other].constant) {
          options.given.push_back(other);
          given.push_back(buffer.data());
        }
      Result<Plan> plan = makePlan(*probed, options);
      if (!plan)
        return plan.error();
      Workspace workspace(*plan);
      plan->run(given, workspace);
      CheckEntry entry;
      entry.id = node.id;
      entry.op = node.op;
      entry.type = graph.values[value].typeName();
      compareValue(graph.values[value], workspace.value(value), known[value].data(), entry);
      entries.push_back(entry);
    }
  return entries;
}
