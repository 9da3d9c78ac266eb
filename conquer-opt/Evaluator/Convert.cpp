//===- Convert.cpp - cast, rescale and table --------------------------------------------------===//

#include "conquer-opt/Evaluator/Rounding.h"
#include "conquer-opt/Evaluator/Step.h"

#include <algorithm>
#include <cmath>

using namespace conquer;

namespace {

Status sameShape(const NodeView &view) {
  if (view.in(0).shape != view.out().shape)
    return view.error("operand is " + view.in(0).typeName(),
                      "the shape of the result, " + view.out().typeName());
  return success();
}

template <typename In, typename Out, typename Op>
Result<Step> map(const NodeView &view, const Op &op) {
  int64_t count = view.out().elements();
  return Step{[count, op](const Operands &operands) {
    const In *in = operands.in<In>(0);
    Out *out = operands.out<Out>();
    for (int64_t i = 0; i < count; ++i)
      out[i] = op(in[i]);
  }};
}

/// Rounds to the nearest whole number, ties to even, in a form that vectorises on any CPU: adding
/// 2^23 leaves no bits for fractions, and f32 beyond it has none.
float roundToEven(float x) {
  constexpr float whole = 8388608.0f;
  float size = __builtin_fabsf(x);
  float rounded = size < whole ? (size + whole) - whole : size;
  return __builtin_copysignf(rounded, x);
}

/// Saturating before rounding: the bounds are whole numbers, so the order does not matter, and the
/// loop vectorises. NaN becomes 0.
template <typename Out> Out fromFloat(float x) {
  constexpr float low = std::numeric_limits<Out>::min();
  // The largest f32 that does not exceed the type's maximum.
  constexpr float high = sizeof(Out) == 4 ? 2147483520.0f : std::numeric_limits<Out>::max();
  float bounded = x > low ? x : low;
  bounded = bounded < high ? bounded : high;
  auto converted = static_cast<int32_t>(roundToEven(x == x ? bounded : 0.0f));
  // From 2^31 on the maximum itself, which f32 cannot hold.
  return static_cast<Out>(sizeof(Out) == 4 && x >= 2147483648.0f ? std::numeric_limits<Out>::max()
                                                                 : converted);
}

template <typename In> Result<Step> castFrom(const NodeView &view) {
  switch (view.out().type) {
  case ElementType::Bool:
    return map<In, int8_t>(view, [](In x) -> int8_t { return x != 0; });
  case ElementType::I8:
    return map<In, int8_t>(view, [](In x) { return static_cast<int8_t>(x); });
  case ElementType::I16:
    return map<In, int16_t>(view, [](In x) { return static_cast<int16_t>(x); });
  case ElementType::I32:
    return map<In, int32_t>(view, [](In x) { return static_cast<int32_t>(x); });
  case ElementType::F32:
    return map<In, float>(view, [](In x) { return static_cast<float>(x); });
  default:
    return view.unsupported();
  }
}

Result<Step> castFromFloat(const NodeView &view) {
  switch (view.out().type) {
  case ElementType::Bool:
    return map<float, int8_t>(view, [](float x) -> int8_t { return x != 0; });
  case ElementType::I8:
    return map<float, int8_t>(view, [](float x) { return fromFloat<int8_t>(x); });
  case ElementType::I16:
    return map<float, int16_t>(view, [](float x) { return fromFloat<int16_t>(x); });
  case ElementType::I32:
    return map<float, int32_t>(view, [](float x) { return fromFloat<int32_t>(x); });
  case ElementType::F32:
    return map<float, float>(view, [](float x) { return x; });
  default:
    return view.unsupported();
  }
}

/// Integers are truncated or extended; float to integer rounds to nearest even and saturates.
Result<Step> makeCast(const NodeView &view) {
  if (Status status = view.expect(1); !status)
    return status.error();
  if (Status status = sameShape(view); !status)
    return status.error();
  switch (view.in(0).type) {
  case ElementType::Bool:
  case ElementType::I8:
    return castFrom<int8_t>(view);
  case ElementType::I16:
    return castFrom<int16_t>(view);
  case ElementType::I32:
    return castFrom<int32_t>(view);
  case ElementType::F32:
    return castFromFloat(view);
  default:
    return view.unsupported();
  }
}

/// Multipliers and shifts of a RESCALE and what surrounds them.
struct Rescale {
  std::vector<int64_t> multiplier, shift;
  int64_t inputZp, outputZp, low, high, channels, count;
  bool scale32, doubleRound;
};

template <typename In, typename Out>
void runRescale(const Rescale &rescale, const Operands &operands) {
  const In *in = operands.in<In>(0);
  Out *out = operands.out<Out>();
  int64_t period = rescale.multiplier.size() == 1 ? 0 : 1;
  for (int64_t i = 0, c = 0; i < rescale.count; ++i) {
    int64_t value = +in[i] - rescale.inputZp; // NOLINT(bugprone-signed-char-misuse): a number
    int64_t k = c * period;
    int64_t scaled = rescale.scale32 ? applyScale32(value, rescale.multiplier[k], rescale.shift[k],
                                                    rescale.doubleRound)
                                     : applyScale16(value, rescale.multiplier[k], rescale.shift[k]);
    out[i] = static_cast<Out>(std::clamp(scaled + rescale.outputZp, rescale.low, rescale.high));
    c = c + 1 == rescale.channels ? 0 : c + 1;
  }
}

template <typename In, typename Out> Step rescaleStep(Rescale rescale) {
  rescale.low = std::numeric_limits<Out>::min();
  rescale.high = std::numeric_limits<Out>::max();
  return Step{[rescale = std::move(rescale)](const Operands &operands) {
    runRescale<In, Out>(rescale, operands);
  }};
}

template <typename In> Result<Step> rescaleFrom(const NodeView &view, const Rescale &rescale) {
  bool isUnsigned = view.integer("output_unsigned");
  switch (view.out().type) {
  case ElementType::I8:
    return isUnsigned ? rescaleStep<In, uint8_t>(rescale) : rescaleStep<In, int8_t>(rescale);
  case ElementType::I16:
    return isUnsigned ? rescaleStep<In, uint16_t>(rescale) : rescaleStep<In, int16_t>(rescale);
  case ElementType::I32:
    return rescaleStep<In, int32_t>(rescale);
  default:
    return view.unsupported();
  }
}

Result<Rescale> readRescale(const NodeView &view) {
  Rescale rescale;
  Result<std::vector<int64_t>> multiplier = view.constantIntegers(1);
  if (!multiplier)
    return multiplier.error();
  Result<std::vector<int64_t>> shift = view.constantIntegers(2);
  if (!shift)
    return shift.error();
  Result<int64_t> inputZp = view.constantInteger(3), outputZp = view.constantInteger(4);
  if (!inputZp)
    return inputZp.error();
  if (!outputZp)
    return outputZp.error();
  bool perChannel = view.integer("per_channel");
  int64_t channels = view.out().shape.empty() ? 1 : view.out().shape.back();
  size_t entries = perChannel ? channels : 1;
  if (multiplier->size() != entries || shift->size() != entries)
    return view.error("has " + std::to_string(multiplier->size()) + " multipliers and " +
                          std::to_string(shift->size()) + " shifts",
                      std::to_string(entries) + " of each");
  for (int64_t amount : *shift)
    if (amount < 2 || amount > 62)
      return view.error("shift is " + std::to_string(amount), "2 to 62");
  for (int64_t factor : *multiplier)
    if (factor < 0)
      return view.error("multiplier is " + std::to_string(factor), "at least 0");
  // Zero points of unsigned tensors are unsigned too.
  auto zeroPoint = [](int64_t value, ElementType type, bool isUnsigned) {
    return isUnsigned ? value & (type == ElementType::I8 ? 0xff : 0xffff) : value;
  };
  rescale.multiplier = std::move(*multiplier);
  rescale.shift = std::move(*shift);
  rescale.inputZp = zeroPoint(*inputZp, view.in(0).type, view.integer("input_unsigned"));
  rescale.outputZp = zeroPoint(*outputZp, view.out().type, view.integer("output_unsigned"));
  rescale.channels = channels;
  rescale.count = view.out().elements();
  rescale.scale32 = view.integer("scale32");
  rescale.doubleRound = view.text("rounding_mode") == "DOUBLE_ROUND";
  return rescale;
}

Result<Step> makeRescale(const NodeView &view) {
  if (Status status = view.expect(5); !status)
    return status.error();
  if (Status status = sameShape(view); !status)
    return status.error();
  Result<Rescale> rescale = readRescale(view);
  if (!rescale)
    return rescale.error();
  bool isUnsigned = view.integer("input_unsigned");
  switch (view.in(0).type) {
  case ElementType::I8:
    return isUnsigned ? rescaleFrom<uint8_t>(view, *rescale) : rescaleFrom<int8_t>(view, *rescale);
  case ElementType::I16:
    return isUnsigned ? rescaleFrom<uint16_t>(view, *rescale)
                      : rescaleFrom<int16_t>(view, *rescale);
  case ElementType::I32:
    return rescaleFrom<int32_t>(view, *rescale);
  case ElementType::I48:
    return rescaleFrom<int64_t>(view, *rescale);
  default:
    return view.unsupported();
  }
}

Result<Step> makeTable(const NodeView &view) {
  if (Status status = view.expect(2); !status)
    return status.error();
  if (Status status = sameShape(view); !status)
    return status.error();
  Result<std::vector<int64_t>> table = view.constantIntegers(1);
  if (!table)
    return table.error();
  if (view.in(0).type == ElementType::I8 && view.out().type == ElementType::I8 &&
      table->size() == 256) {
    std::vector<int8_t> entries(table->begin(), table->end());
    int64_t count = view.out().elements();
    return Step{[entries, count](const Operands &operands) {
      const int8_t *in = operands.in<int8_t>(0);
      int8_t *out = operands.out<int8_t>();
      for (int64_t i = 0; i < count; ++i)
        out[i] = entries[in[i] + 128];
    }};
  }
  if (view.in(0).type == ElementType::I16 && view.out().type == ElementType::I32 &&
      table->size() == 513) {
    std::vector<int32_t> entries(table->begin(), table->end());
    // 9 bits of index, 7 bits of interpolation between neighbours.
    return map<int16_t, int32_t>(view, [entries](int16_t x) {
      int32_t index = (x >> 7) + 256, fraction = x & 127;
      return entries[index] * 128 + (entries[index + 1] - entries[index]) * fraction;
    });
  }
  return view.unsupported();
}

} // namespace

StepMaker conquer::findConvert(std::string_view op) {
  if (op == "tosa.cast")
    return makeCast;
  if (op == "tosa.rescale")
    return makeRescale;
  if (op == "tosa.table")
    return makeTable;
  return nullptr;
}
