//===- Reduce.cpp - reductions along one axis, argmax -----------------------------------------===//

#include "conquer-opt/Evaluator/Step.h"

#include <algorithm>

using namespace conquer;

namespace {

/// The tensor seen as [outer, axis, inner].
struct Axis {
  int64_t outer = 1, length = 1, inner = 1;
};

Result<Axis> readAxis(const NodeView &view) {
  int64_t axis = view.integer("axis", -1);
  const std::vector<int64_t> &shape = view.in(0).shape;
  if (axis < 0 || axis >= static_cast<int64_t>(shape.size()))
    return view.error("axis is " + std::to_string(axis),
                      "0 to " + std::to_string(static_cast<int64_t>(shape.size()) - 1));
  Axis result;
  for (int64_t d = 0; d < axis; ++d)
    result.outer *= shape[d];
  result.length = shape[axis];
  for (size_t d = axis + 1; d < shape.size(); ++d)
    result.inner *= shape[d];
  if (result.length < 1)
    return view.error("the reduced axis is empty");
  if (view.out().elements() != result.outer * result.inner)
    return view.error("result is " + view.out().typeName(),
                      "one element per reduced row of " + view.in(0).typeName());
  return result;
}

template <typename T, typename Op> Step reduce(const Axis &axis, Op op) {
  return Step{[axis, op](const Operands &operands) {
    const T *in = operands.in<T>(0);
    T *out = operands.out<T>();
    for (int64_t o = 0; o < axis.outer; ++o, out += axis.inner) {
      std::copy(in, in + axis.inner, out);
      in += axis.inner;
      for (int64_t k = 1; k < axis.length; ++k, in += axis.inner)
        for (int64_t i = 0; i < axis.inner; ++i)
          out[i] = op(out[i], in[i]);
    }
  }};
}

Result<Step> makeReduce(const NodeView &view) {
  if (Status status = view.expect(1); !status)
    return status.error();
  Result<Axis> axis = readAxis(view);
  if (!axis)
    return axis.error();
  ElementType type = view.in(0).type;
  if (type != view.out().type)
    return view.unsupported();
  const std::string &op = view.op();
  auto larger = [](auto a, auto b) { return a > b || a != a ? a : b; };
  auto smaller = [](auto a, auto b) { return a < b || a != a ? a : b; };
  auto largerNumber = [](float a, float b) { return a > b || b != b ? a : b; };
  auto smallerNumber = [](float a, float b) { return a < b || b != b ? a : b; };
  bool ignore = view.ignoresNan();
  if (op == "tosa.reduce_sum" && type == ElementType::F32)
    return reduce<float>(*axis, [](float a, float b) { return a + b; });
  if (op == "tosa.reduce_sum" && type == ElementType::I32)
    return reduce<int32_t>(*axis, [](int32_t a, int32_t b) {
      return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
    });
  if (op == "tosa.reduce_product" && type == ElementType::F32)
    return reduce<float>(*axis, [](float a, float b) { return a * b; });
  if (op == "tosa.reduce_max" && type == ElementType::F32)
    return ignore ? reduce<float>(*axis, largerNumber) : reduce<float>(*axis, larger);
  if (op == "tosa.reduce_min" && type == ElementType::F32)
    return ignore ? reduce<float>(*axis, smallerNumber) : reduce<float>(*axis, smaller);
  if (op == "tosa.reduce_max" && type == ElementType::I8)
    return reduce<int8_t>(*axis, larger);
  if (op == "tosa.reduce_min" && type == ElementType::I8)
    return reduce<int8_t>(*axis, smaller);
  if (op == "tosa.reduce_max" && type == ElementType::I32)
    return reduce<int32_t>(*axis, larger);
  if (op == "tosa.reduce_min" && type == ElementType::I32)
    return reduce<int32_t>(*axis, smaller);
  if (op == "tosa.reduce_all" && type == ElementType::Bool)
    return reduce<int8_t>(*axis, smaller);
  if (op == "tosa.reduce_any" && type == ElementType::Bool)
    return reduce<int8_t>(*axis, larger);
  return view.unsupported();
}

/// The first largest element; NaN counts as largest (PROPAGATE) or is skipped (IGNORE).
template <typename T> Step argmax(const Axis &axis, bool ignoreNan) {
  return Step{[axis, ignoreNan](const Operands &operands) {
    const T *in = operands.in<T>(0);
    int32_t *out = operands.out<int32_t>();
    for (int64_t o = 0; o < axis.outer; ++o)
      for (int64_t i = 0; i < axis.inner; ++i) {
        const T *column = in + o * axis.length * axis.inner + i;
        int64_t best = 0;
        for (int64_t k = 1; k < axis.length; ++k) {
          T x = column[k * axis.inner], y = column[best * axis.inner];
          if (x > y || (ignoreNan ? y != y && x == x : x != x && y == y))
            best = k;
        }
        out[o * axis.inner + i] = static_cast<int32_t>(best);
      }
  }};
}

Result<Step> makeArgmax(const NodeView &view) {
  if (Status status = view.expect(1); !status)
    return status.error();
  Result<Axis> axis = readAxis(view);
  if (!axis)
    return axis.error();
  if (view.out().type != ElementType::I32)
    return view.unsupported();
  if (view.in(0).type == ElementType::F32)
    return argmax<float>(*axis, view.ignoresNan());
  if (view.in(0).type == ElementType::I8)
    return argmax<int8_t>(*axis, false);
  if (view.in(0).type == ElementType::I16)
    return argmax<int16_t>(*axis, false);
  return view.unsupported();
}

} // namespace

StepMaker conquer::findReduce(std::string_view op) {
  if (op == "tosa.argmax")
    return makeArgmax;
  if (op.substr(0, 12) == "tosa.reduce_")
    return makeReduce;
  return nullptr;
}
