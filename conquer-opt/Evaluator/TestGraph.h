//===- TestGraph.h - graphs of one operation, for tests ---------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_TESTGRAPH_H
#define CONQUER_OPT_EVALUATOR_TESTGRAPH_H

#include "conquer-opt/Evaluator/Plan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace conquer {

template <typename T> constexpr ElementType elementTypeFor();
template <> constexpr ElementType elementTypeFor<int8_t>() { return ElementType::I8; }
template <> constexpr ElementType elementTypeFor<int16_t>() { return ElementType::I16; }
template <> constexpr ElementType elementTypeFor<int32_t>() { return ElementType::I32; }
template <> constexpr ElementType elementTypeFor<int64_t>() { return ElementType::I48; }
template <> constexpr ElementType elementTypeFor<uint16_t>() { return ElementType::BF16; }
template <> constexpr ElementType elementTypeFor<float>() { return ElementType::F32; }

using Shape = std::vector<int64_t>;

/// Builds a graph and runs it.
class TestGraph {
public:
  template <typename T> int input(const Shape &shape, const std::vector<T> &elements) {
    int value = add(elementTypeFor<T>(), shape);
    graph->inputs.push_back(value);
    Buffer buffer(graph->values[value].bytes());
    EXPECT_EQ(buffer.size(), elements.size() * sizeof(T));
    std::memcpy(buffer.data(), elements.data(), buffer.size());
    data.push_back(buffer);
    return value;
  }
  template <typename T> int constant(const Shape &shape, const std::vector<T> &elements) {
    int value = add(elementTypeFor<T>(), shape);
    Buffer buffer(graph->values[value].bytes());
    EXPECT_EQ(buffer.size(), elements.size() * sizeof(T));
    std::memcpy(buffer.data(), elements.data(), buffer.size());
    graph->values[value].constant = std::make_shared<const Buffer>(buffer);
    return value;
  }
  template <typename T> int scalar(T element) { return constant<T>({1}, {element}); }
  int shapeConstant(const Shape &elements) {
    int value = constant<int64_t>({static_cast<int64_t>(elements.size())}, elements);
    graph->values[value].type = ElementType::Shape;
    return value;
  }
  int node(const std::string &op, const std::vector<int> &inputs, ElementType type,
           const Shape &shape, const std::map<std::string, NodeAttribute> &attributes = {}) {
    int value = add(type, shape);
    graph->nodes.push_back({op, op, inputs, {value}, attributes});
    return value;
  }

  Result<Plan> plan(int output, PlanOptions options = {}, const cq_level *level = *cq_levels()) {
    graph->outputs = {output};
    hashValues(*graph);
    return Plan::create(graph, *level, packs, options);
  }

  /// The elements of a value.
  template <typename T> std::vector<T> run(int output, const cq_level *level = *cq_levels()) {
    Result<Plan> made = plan(output, {}, level);
    if (!made) {
      ADD_FAILURE() << made.error().message();
      return {};
    }
    Workspace workspace(*made);
    std::vector<const void *> given;
    for (const Buffer &buffer : data)
      given.push_back(buffer.data());
    made->run(given, workspace);
    EXPECT_EQ(graph->values[output].type == ElementType::Bool ? ElementType::I8
                                                              : graph->values[output].type,
              elementTypeFor<T>());
    const T *elements = workspace.as<T>(output);
    return std::vector<T>(elements, elements + graph->values[output].elements());
  }

  /// The message of a plan that must not be made.
  std::string refusal(int output) {
    Result<Plan> made = plan(output);
    return made ? "" : made.error().message();
  }

  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::vector<Buffer> data;
  PackCache packs;

private:
  int add(ElementType type, const Shape &shape) {
    Value value;
    value.type = type;
    value.shape = shape;
    graph->values.push_back(value);
    return static_cast<int>(graph->values.size()) - 1;
  }
};

/// Whole numbers from low to high, the same on every machine.
template <typename T>
std::vector<T> randomIntegers(size_t count, int64_t low, int64_t high, uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<T> values(count);
  for (T &value : values)
    value = static_cast<T>(low + static_cast<int64_t>(engine() % (high - low + 1)));
  // Extremes are among them.
  if (count > 1) {
    values[0] = static_cast<T>(low);
    values[count - 1] = static_cast<T>(high);
  }
  return values;
}

inline std::vector<float> randomFloats(size_t count, float scale, uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = scale * (static_cast<float>(engine() % 20001) / 10000 - 1);
  return values;
}

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_TESTGRAPH_H
