//===- Binary.cpp - elementwise operations of two and three operands --------------------------===//
//
// Semantics of TOSA 1.0. Integer arithmetic wraps where TOSA calls an overflow an error.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Evaluator/Broadcast.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

using namespace conquer;

namespace {

/// Runs op(a, b) over the walk; one loop per pattern of repetition, so that each vectorises.
template <typename In, typename Out, typename Op>
void runRows(const Broadcast<2> &walk, const Operands &operands, Op op) {
  const In *a = operands.in<In>(0), *b = operands.in<In>(1);
  Out *out = operands.out<Out>();
  int64_t count = walk.row();
  bool repeatA = walk.step(0) == 0, repeatB = walk.step(1) == 0;
  forRows(walk, [&](int64_t offset, const std::array<int64_t, 2> &at) {
    const In *x = a + at[0], *y = b + at[1];
    Out *z = out + offset;
    if (!repeatA && !repeatB) {
      for (int64_t i = 0; i < count; ++i)
        z[i] = op(x[i], y[i]);
    } else if (!repeatA) {
      In second = *y;
      for (int64_t i = 0; i < count; ++i)
        z[i] = op(x[i], second);
    } else if (!repeatB) {
      In first = *x;
      for (int64_t i = 0; i < count; ++i)
        z[i] = op(first, y[i]);
    } else {
      std::fill(z, z + count, static_cast<Out>(op(*x, *y)));
    }
  });
}

template <typename In, typename Out, typename Op> Result<Step> binary(const NodeView &view, Op op) {
  Result<Broadcast<2>> walk = makeBroadcast<2>(view);
  if (!walk)
    return walk.error();
  return Step{
      [walk = *walk, op](const Operands &operands) { runRows<In, Out>(walk, operands, op); }};
}

bool types(const NodeView &view, ElementType in, ElementType out) {
  return view.in(0).type == in && view.in(1).type == in && view.out().type == out;
}

template <typename T> using Unsigned = std::make_unsigned_t<T>;
template <typename T> T wrap(int64_t value) {
  return static_cast<T>(static_cast<Unsigned<T>>(value));
}

/// One functor for i32 and one for f32, for operations that keep the type.
template <typename IntOp, typename FloatOp>
Result<Step> arithmetic(const NodeView &view, IntOp intOp, FloatOp floatOp) {
  if (Status status = view.expect(2); !status)
    return status.error();
  if (types(view, ElementType::F32, ElementType::F32))
    return binary<float, float>(view, floatOp);
  if (types(view, ElementType::I32, ElementType::I32))
    return binary<int32_t, int32_t>(view, intOp);
  return view.unsupported();
}

uint32_t bits(int32_t value) { return static_cast<uint32_t>(value); }

Result<Step> makeAdd(const NodeView &view) {
  return arithmetic(
      view, [](int32_t a, int32_t b) { return static_cast<int32_t>(bits(a) + bits(b)); },
      [](float a, float b) { return a + b; });
}

Result<Step> makeSub(const NodeView &view) {
  return arithmetic(
      view, [](int32_t a, int32_t b) { return static_cast<int32_t>(bits(a) - bits(b)); },
      [](float a, float b) { return a - b; });
}

Result<Step> makeMaximum(const NodeView &view) {
  auto larger = [](int32_t a, int32_t b) { return a > b ? a : b; };
  if (view.ignoresNan())
    return arithmetic(view, larger, [](float a, float b) { return a > b || b != b ? a : b; });
  return arithmetic(view, larger, [](float a, float b) { return a > b || a != a ? a : b; });
}

Result<Step> makeMinimum(const NodeView &view) {
  auto smaller = [](int32_t a, int32_t b) { return a < b ? a : b; };
  if (view.ignoresNan())
    return arithmetic(view, smaller, [](float a, float b) { return a < b || b != b ? a : b; });
  return arithmetic(view, smaller, [](float a, float b) { return a < b || a != a ? a : b; });
}

/// i32 products are shifted right, rounding half up; narrower ones are returned whole in i32.
Result<Step> makeMul(const NodeView &view) {
  if (Status status = view.expect(3); !status)
    return status.error();
  if (types(view, ElementType::F32, ElementType::F32))
    return binary<float, float>(view, [](float a, float b) { return a * b; });
  auto whole = [](auto a, auto b) { return static_cast<int32_t>(a) * b; };
  if (types(view, ElementType::I8, ElementType::I32))
    return binary<int8_t, int32_t>(view, whole);
  if (types(view, ElementType::I16, ElementType::I32))
    return binary<int16_t, int32_t>(view, whole);
  if (!types(view, ElementType::I32, ElementType::I32))
    return view.unsupported();
  Result<int64_t> shift = view.constantInteger(2);
  if (!shift)
    return shift.error();
  if (*shift < 0 || *shift > 63)
    return view.error("shift is " + std::to_string(*shift), "0 to 63");
  if (*shift == 0)
    return binary<int32_t, int32_t>(
        view, [](int32_t a, int32_t b) { return static_cast<int32_t>(bits(a) * bits(b)); });
  int64_t amount = *shift, half = int64_t(1) << (amount - 1);
  return binary<int32_t, int32_t>(view, [amount, half](int32_t a, int32_t b) {
    return wrap<int32_t>((int64_t(a) * b + half) >> amount);
  });
}

Result<Step> makePow(const NodeView &view) {
  if (Status status = view.expect(2); !status)
    return status.error();
  if (!types(view, ElementType::F32, ElementType::F32))
    return view.unsupported();
  return binary<float, float>(view, [](float a, float b) { return std::pow(a, b); });
}

/// A division by zero, which TOSA excludes, gives 0.
Result<Step> makeIntDiv(const NodeView &view) {
  if (Status status = view.expect(2); !status)
    return status.error();
  if (!types(view, ElementType::I32, ElementType::I32))
    return view.unsupported();
  return binary<int32_t, int32_t>(
      view, [](int32_t a, int32_t b) { return b == 0 ? 0 : wrap<int32_t>(int64_t(a) / b); });
}

template <typename Compare> Result<Step> compare(const NodeView &view, Compare op) {
  if (Status status = view.expect(2); !status)
    return status.error();
  if (types(view, ElementType::F32, ElementType::Bool))
    return binary<float, int8_t>(view, op);
  if (types(view, ElementType::I32, ElementType::Bool))
    return binary<int32_t, int8_t>(view, op);
  return view.unsupported();
}

Result<Step> makeEqual(const NodeView &view) {
  return compare(view, [](auto a, auto b) -> int8_t { return a == b; });
}
Result<Step> makeGreater(const NodeView &view) {
  return compare(view, [](auto a, auto b) -> int8_t { return a > b; });
}
Result<Step> makeGreaterEqual(const NodeView &view) {
  return compare(view, [](auto a, auto b) -> int8_t { return a >= b; });
}

/// Operations on the bits of i8, i16 and i32 (and truth values, which are 0 or 1).
template <typename Op> Result<Step> bitwise(const NodeView &view, bool logical, Op op) {
  if (Status status = view.expect(2); !status)
    return status.error();
  if (logical != (view.in(0).type == ElementType::Bool))
    return view.unsupported();
  if (types(view, ElementType::Bool, ElementType::Bool) ||
      types(view, ElementType::I8, ElementType::I8))
    return binary<int8_t, int8_t>(view, op);
  if (types(view, ElementType::I16, ElementType::I16))
    return binary<int16_t, int16_t>(view, op);
  if (types(view, ElementType::I32, ElementType::I32))
    return binary<int32_t, int32_t>(view, op);
  return view.unsupported();
}

Result<Step> makeAnd(const NodeView &view) {
  return bitwise(view, view.op() == "tosa.logical_and",
                 [](auto a, auto b) { return static_cast<decltype(a)>(a & b); });
}
Result<Step> makeOr(const NodeView &view) {
  return bitwise(view, view.op() == "tosa.logical_or",
                 [](auto a, auto b) { return static_cast<decltype(a)>(a | b); });
}
Result<Step> makeXor(const NodeView &view) {
  return bitwise(view, view.op() == "tosa.logical_xor",
                 [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); });
}

// TOSA allows shifts of 0 to 31; the mask keeps others defined.
Result<Step> makeLeftShift(const NodeView &view) {
  return bitwise(view, false, [](auto a, auto b) {
    using T = decltype(a);
    return static_cast<T>(static_cast<uint32_t>(static_cast<Unsigned<T>>(a)) << (b & 31));
  });
}
Result<Step> makeLogicalRightShift(const NodeView &view) {
  return bitwise(view, false, [](auto a, auto b) {
    using T = decltype(a);
    return static_cast<T>(static_cast<uint32_t>(static_cast<Unsigned<T>>(a)) >> (b & 31));
  });
}
Result<Step> makeArithmeticRightShift(const NodeView &view) {
  int round = view.integer("round") != 0;
  return bitwise(view, false, [round](auto a, auto b) {
    int shift = b & 31;
    int32_t up = round && shift > 0 ? (int32_t(a) >> (shift - 1)) & 1 : 0;
    return static_cast<decltype(a)>((int32_t(a) >> shift) + up);
  });
}

template <typename T> Result<Step> select(const NodeView &view) {
  Result<Broadcast<3>> walk = makeBroadcast<3>(view);
  if (!walk)
    return walk.error();
  return Step{[walk = *walk](const Operands &operands) {
    const int8_t *condition = operands.in<int8_t>(0);
    const T *a = operands.in<T>(1), *b = operands.in<T>(2);
    T *out = operands.out<T>();
    int64_t count = walk.row(), stepC = walk.step(0), stepA = walk.step(1), stepB = walk.step(2);
    forRows(walk, [&](int64_t offset, const std::array<int64_t, 3> &at) {
      for (int64_t i = 0; i < count; ++i)
        out[offset + i] =
            condition[at[0] + i * stepC] ? a[at[1] + i * stepA] : b[at[2] + i * stepB];
    });
  }};
}

Result<Step> makeSelect(const NodeView &view) {
  if (Status status = view.expect(3); !status)
    return status.error();
  if (view.in(0).type != ElementType::Bool || view.in(1).type != view.out().type ||
      view.in(2).type != view.out().type)
    return view.unsupported();
  switch (elementBytes(view.out().type)) {
  case 1:
    return select<int8_t>(view);
  case 2:
    return select<int16_t>(view);
  case 4:
    return select<int32_t>(view);
  default:
    return select<int64_t>(view);
  }
}

} // namespace

StepMaker conquer::findBinary(std::string_view op) {
  static const std::unordered_map<std::string_view, StepMaker> makers = {
      {"tosa.add", makeAdd},
      {"tosa.sub", makeSub},
      {"tosa.mul", makeMul},
      {"tosa.pow", makePow},
      {"tosa.intdiv", makeIntDiv},
      {"tosa.maximum", makeMaximum},
      {"tosa.minimum", makeMinimum},
      {"tosa.equal", makeEqual},
      {"tosa.greater", makeGreater},
      {"tosa.greater_equal", makeGreaterEqual},
      {"tosa.logical_and", makeAnd},
      {"tosa.logical_or", makeOr},
      {"tosa.logical_xor", makeXor},
      {"tosa.bitwise_and", makeAnd},
      {"tosa.bitwise_or", makeOr},
      {"tosa.bitwise_xor", makeXor},
      {"tosa.logical_left_shift", makeLeftShift},
      {"tosa.logical_right_shift", makeLogicalRightShift},
      {"tosa.arithmetic_right_shift", makeArithmeticRightShift},
      {"tosa.select", makeSelect},
  };
  auto found = makers.find(op);
  return found == makers.end() ? nullptr : found->second;
}
