//===- Step.cpp - what step makers share ------------------------------------------------------===//

#include "conquer-opt/Evaluator/Step.h"

#include <cstring>

using namespace conquer;

std::shared_ptr<const Buffer> PackCache::get(uint64_t key, const std::function<Buffer()> &make) {
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<const Buffer> &entry = buffers[key];
  if (!entry)
    entry = std::make_shared<const Buffer>(make());
  return entry;
}

size_t PackCache::bytes() const {
  std::lock_guard<std::mutex> lock(mutex);
  size_t total = 0;
  for (const auto &[key, buffer] : buffers)
    total += buffer->size();
  return total;
}

void PackCache::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  buffers.clear();
}

namespace {

template <typename T> const T *findAttribute(const Node &node, const std::string &name) {
  auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

template <typename T> std::vector<int64_t> widen(const Buffer &buffer) {
  std::vector<int64_t> values(buffer.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T element;
    std::memcpy(&element, buffer.data() + i * sizeof(T), sizeof(T));
    values[i] = +element; // promoted: not a character
  }
  return values;
}

} // namespace

int64_t NodeView::integer(const std::string &name, int64_t fallback) const {
  const auto *value = findAttribute<int64_t>(node, name);
  return value ? *value : fallback;
}

double NodeView::number(const std::string &name, double fallback) const {
  const auto *value = findAttribute<double>(node, name);
  return value ? *value : fallback;
}

std::string NodeView::text(const std::string &name, const std::string &fallback) const {
  const auto *value = findAttribute<std::string>(node, name);
  return value ? *value : fallback;
}

std::vector<int64_t> NodeView::integers(const std::string &name) const {
  const auto *value = findAttribute<std::vector<int64_t>>(node, name);
  return value ? *value : std::vector<int64_t>();
}

Result<std::vector<int64_t>> NodeView::constantIntegers(int i) const {
  const Value &value = in(i);
  if (!value.constant)
    return error("operand " + std::to_string(i) + " is not a constant", "a constant");
  switch (value.type) {
  case ElementType::Bool:
  case ElementType::I4:
  case ElementType::I8:
    return widen<int8_t>(*value.constant);
  case ElementType::I16:
    return widen<int16_t>(*value.constant);
  case ElementType::I32:
    return widen<int32_t>(*value.constant);
  case ElementType::I48:
  case ElementType::I64:
  case ElementType::Shape:
    return widen<int64_t>(*value.constant);
  case ElementType::F32:
  case ElementType::BF16:
  case ElementType::F16:
    break;
  }
  return error("operand " + std::to_string(i) + " is " + elementName(value.type), "integers");
}

Result<int64_t> NodeView::constantInteger(int i) const {
  if (in(i).type == ElementType::F32 || in(i).type == ElementType::BF16 ||
      in(i).type == ElementType::F16)
    return int64_t(0);
  Result<std::vector<int64_t>> values = constantIntegers(i);
  if (!values)
    return values.error();
  if (values->size() != 1)
    return error("operand " + std::to_string(i) + " has " + std::to_string(values->size()) +
                     " elements",
                 "one element");
  return (*values)[0];
}

Error NodeView::error(const std::string &what, std::string expected) const {
  return {node.op + ": " + what, node.id, std::move(expected), ""};
}

Error NodeView::unsupported() const {
  std::string types;
  for (int input : node.inputs)
    types += (types.empty() ? "" : ", ") + graph.values[input].typeName();
  types += " -> ";
  for (int output : node.outputs)
    types += graph.values[output].typeName();
  return error("the evaluator has no form of this operation for " + types);
}

Status NodeView::expect(size_t inputs, size_t outputs) const {
  if (node.inputs.size() != inputs || node.outputs.size() != outputs)
    return error("has " + std::to_string(node.inputs.size()) + " operands and " +
                     std::to_string(node.outputs.size()) + " results",
                 std::to_string(inputs) + " operands and " + std::to_string(outputs) + " results");
  return success();
}

Result<Step> conquer::makeStep(const NodeView &view) {
  // These take bf16 and f16 as they are: fused operations have kernels, the others move elements.
  bool any = view.op().rfind("conquer.", 0) == 0 || findLayout(view.op());
  for (auto find : {findConvolution, findPooling, findBinary, findUnary, findConvert, findLayout,
                    findReduce, findResize})
    if (StepMaker maker = find(view.op()))
      return takesHalf(view) && !any ? makeHalfStep(view, maker) : maker(view);
  return Error{"the evaluator does not know operation " + view.op(), view.describe().id,
               "an operation of prepared or quantised TOSA", ""};
}
