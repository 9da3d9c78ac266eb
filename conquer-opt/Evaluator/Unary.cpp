//===- Unary.cpp - elementwise operations of one operand --------------------------------------===//

#include "conquer-opt/Evaluator/Step.h"

#include <algorithm>
#include <cmath>

using namespace conquer;

namespace {

/// Operand and result must have equal shapes.
Status sameShape(const NodeView &view) {
  if (view.in(0).shape != view.out().shape)
    return view.error("operand is " + view.in(0).typeName(),
                      "the shape of the result, " + view.out().typeName());
  return success();
}

template <typename T, typename Op> Result<Step> unary(const NodeView &view, Op op) {
  if (Status status = sameShape(view); !status)
    return status.error();
  int64_t count = view.out().elements();
  return Step{[count, op](const Operands &operands) {
    const T *in = operands.in<T>(0);
    T *out = operands.out<T>();
    for (int64_t i = 0; i < count; ++i)
      out[i] = op(in[i]);
  }};
}

bool types(const NodeView &view, ElementType type) {
  return view.in(0).type == type && view.out().type == type;
}

/// A function of f32.
template <float (*function)(float)> Result<Step> makeFloat(const NodeView &view) {
  if (Status status = view.expect(1); !status)
    return status.error();
  if (!types(view, ElementType::F32))
    return view.unsupported();
  return unary<float>(view, [](float x) { return function(x); });
}

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float tanhOf(float x) { return std::tanh(x); }
float expOf(float x) { return std::exp(x); }
float erfOf(float x) { return std::erf(x); }
float logOf(float x) { return std::log(x); }
float sinOf(float x) { return std::sin(x); }
float cosOf(float x) { return std::cos(x); }
float floorOf(float x) { return std::floor(x); }
float ceilOf(float x) { return std::ceil(x); }
float reciprocal(float x) { return 1.0f / x; }
float rsqrt(float x) { return 1.0f / std::sqrt(x); }

Result<Step> makeAbs(const NodeView &view) {
  if (Status status = view.expect(1); !status)
    return status.error();
  if (types(view, ElementType::F32))
    return unary<float>(view, [](float x) { return std::fabs(x); });
  if (types(view, ElementType::I32))
    return unary<int32_t>(view, [](int32_t x) {
      return x < 0 ? static_cast<int32_t>(0u - static_cast<uint32_t>(x)) : x;
    });
  return view.unsupported();
}

template <typename T> Result<Step> negateInteger(const NodeView &view) {
  Result<int64_t> inputZp = view.constantInteger(1), outputZp = view.constantInteger(2);
  if (!inputZp)
    return inputZp.error();
  if (!outputZp)
    return outputZp.error();
  int64_t sum = *inputZp + *outputZp;
  return unary<T>(view, [sum](T x) {
    return static_cast<T>(
        std::clamp<int64_t>(sum - x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  });
}

/// Integers: output_zp - (x - input_zp), saturated.
Result<Step> makeNegate(const NodeView &view) {
  if (Status status = view.expect(3); !status)
    return status.error();
  if (types(view, ElementType::F32))
    return unary<float>(view, [](float x) { return -x; });
  if (types(view, ElementType::I8))
    return negateInteger<int8_t>(view);
  if (types(view, ElementType::I16))
    return negateInteger<int16_t>(view);
  if (types(view, ElementType::I32))
    return negateInteger<int32_t>(view);
  return view.unsupported();
}

template <typename T> Result<Step> clampInteger(const NodeView &view) {
  T low = static_cast<T>(view.integer("min_val")), high = static_cast<T>(view.integer("max_val"));
  return unary<T>(view, [low, high](T x) { return std::min(std::max(x, low), high); });
}

Result<Step> makeClamp(const NodeView &view) {
  if (Status status = view.expect(1); !status)
    return status.error();
  if (types(view, ElementType::F32)) {
    auto low = static_cast<float>(view.number("min_val"));
    auto high = static_cast<float>(view.number("max_val"));
    if (view.ignoresNan())
      return unary<float>(view, [low, high](float x) {
        float lower = x > low ? x : low; // NaN becomes low
        return lower < high ? lower : high;
      });
    return unary<float>(view, [low, high](float x) {
      float lower = x < low ? low : x; // NaN stays
      return lower > high ? high : lower;
    });
  }
  if (types(view, ElementType::I8))
    return clampInteger<int8_t>(view);
  if (types(view, ElementType::I16))
    return clampInteger<int16_t>(view);
  if (types(view, ElementType::I32))
    return clampInteger<int32_t>(view);
  return view.unsupported();
}

Result<Step> makeNot(const NodeView &view) {
  if (Status status = view.expect(1); !status)
    return status.error();
  if (view.op() == "tosa.logical_not")
    return types(view, ElementType::Bool)
               ? unary<int8_t>(view, [](int8_t x) -> int8_t { return !x; })
               : Result<Step>(view.unsupported());
  if (types(view, ElementType::I8))
    return unary<int8_t>(view, [](int8_t x) { return static_cast<int8_t>(~x); });
  if (types(view, ElementType::I16))
    return unary<int16_t>(view, [](int16_t x) { return static_cast<int16_t>(~x); });
  if (types(view, ElementType::I32))
    return unary<int32_t>(view, [](int32_t x) { return ~x; });
  return view.unsupported();
}

Result<Step> makeClz(const NodeView &view) {
  if (Status status = view.expect(1); !status)
    return status.error();
  if (!types(view, ElementType::I32))
    return view.unsupported();
  return unary<int32_t>(
      view, [](int32_t x) { return x == 0 ? 32 : __builtin_clz(static_cast<uint32_t>(x)); });
}

} // namespace

StepMaker conquer::findUnary(std::string_view op) {
  static const std::unordered_map<std::string_view, StepMaker> makers = {
      {"tosa.sigmoid", makeFloat<sigmoid>},
      {"tosa.tanh", makeFloat<tanhOf>},
      {"tosa.exp", makeFloat<expOf>},
      {"tosa.erf", makeFloat<erfOf>},
      {"tosa.log", makeFloat<logOf>},
      {"tosa.sin", makeFloat<sinOf>},
      {"tosa.cos", makeFloat<cosOf>},
      {"tosa.floor", makeFloat<floorOf>},
      {"tosa.ceil", makeFloat<ceilOf>},
      {"tosa.reciprocal", makeFloat<reciprocal>},
      {"tosa.rsqrt", makeFloat<rsqrt>},
      {"tosa.abs", makeAbs},
      {"tosa.negate", makeNegate},
      {"tosa.clamp", makeClamp},
      {"tosa.logical_not", makeNot},
      {"tosa.bitwise_not", makeNot},
      {"tosa.clz", makeClz},
  };
  auto found = makers.find(op);
  return found == makers.end() ? nullptr : found->second;
}
