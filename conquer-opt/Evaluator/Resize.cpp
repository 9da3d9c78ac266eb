//===- Resize.cpp - resize --------------------------------------------------------------------===//

#include "conquer-opt/Evaluator/Step.h"

#include <algorithm>

using namespace conquer;

namespace {

/// Where one output row or column reads: two neighbours and the distance to the first, in units of
/// 1 / scale.
struct Source {
  int64_t first, second, distance;
};

/// The sources of one axis: position = (out * denominator + offset) / numerator.
std::vector<Source> sources(int64_t in, int64_t out, int64_t numerator, int64_t denominator,
                            int64_t offset) {
  std::vector<Source> list(out);
  for (int64_t i = 0; i < out; ++i) {
    int64_t at = i * denominator + offset;
    int64_t whole = at >= 0 ? at / numerator : -((-at + numerator - 1) / numerator);
    list[i] = {std::clamp<int64_t>(whole, 0, in - 1), std::clamp<int64_t>(whole + 1, 0, in - 1),
               at - whole * numerator};
  }
  return list;
}

struct Resize {
  int64_t batch, inH, inW, channels;
  std::vector<Source> rows, columns;
  int64_t unitY, unitX;
};

template <typename T> Step nearest(const Resize &resize) {
  return Step{[resize](const Operands &operands) {
    const T *in = operands.in<T>(0);
    T *out = operands.out<T>();
    for (int64_t n = 0; n < resize.batch; ++n, in += resize.inH * resize.inW * resize.channels)
      for (const Source &row : resize.rows) {
        int64_t y = row.distance * 2 >= resize.unitY ? row.second : row.first;
        for (const Source &column : resize.columns) {
          int64_t x = column.distance * 2 >= resize.unitX ? column.second : column.first;
          const T *pixel = in + (y * resize.inW + x) * resize.channels;
          out = std::copy(pixel, pixel + resize.channels, out);
        }
      }
  }};
}

/// Weights are distances in units of 1 / scale for integers and fractions for f32.
template <typename In, typename Acc> Step bilinear(const Resize &resize) {
  return Step{[resize](const Operands &operands) {
    const In *in = operands.in<In>(0);
    Acc *out = operands.out<Acc>();
    constexpr bool isFloat = std::is_same<Acc, float>::value;
    auto weight = [](int64_t distance, int64_t unit) {
      return isFloat ? static_cast<Acc>(distance) / static_cast<Acc>(unit)
                     : static_cast<Acc>(distance);
    };
    Acc unitY = isFloat ? Acc(1) : static_cast<Acc>(resize.unitY);
    Acc unitX = isFloat ? Acc(1) : static_cast<Acc>(resize.unitX);
    for (int64_t n = 0; n < resize.batch; ++n, in += resize.inH * resize.inW * resize.channels)
      for (const Source &row : resize.rows)
        for (const Source &column : resize.columns) {
          Acc dy = weight(row.distance, resize.unitY), dx = weight(column.distance, resize.unitX);
          auto pixel = [&](int64_t y, int64_t x) {
            return in + (y * resize.inW + x) * resize.channels;
          };
          const In *topLeft = pixel(row.first, column.first);
          const In *topRight = pixel(row.first, column.second);
          const In *bottomLeft = pixel(row.second, column.first);
          const In *bottomRight = pixel(row.second, column.second);
          for (int64_t c = 0; c < resize.channels; ++c)
            *out++ = static_cast<Acc>(topLeft[c]) * (unitY - dy) * (unitX - dx) +
                     static_cast<Acc>(topRight[c]) * (unitY - dy) * dx +
                     static_cast<Acc>(bottomLeft[c]) * dy * (unitX - dx) +
                     static_cast<Acc>(bottomRight[c]) * dy * dx;
        }
  }};
}

Result<Resize> readResize(const NodeView &view) {
  std::vector<int64_t> parameters[3];
  for (int i = 0; i < 3; ++i) {
    Result<std::vector<int64_t>> list = view.constantIntegers(i + 1);
    if (!list)
      return list.error();
    parameters[i] = *list;
  }
  const auto &[scale, offset, border] = parameters;
  const std::vector<int64_t> &in = view.in(0).shape, &out = view.out().shape;
  if (scale.size() != 4 || offset.size() != 2 || border.size() != 2 || in.size() != 4 ||
      out.size() != 4 || in[0] != out[0] || in[3] != out[3])
    return view.error("malformed resize", "4 scales, 2 offsets, 2 borders, rank 4");
  for (int64_t value : scale)
    if (value < 1 || value > 1 << 12)
      return view.error("scale is " + std::to_string(value), "1 to 4096");
  for (int64_t value : offset)
    if (value < -(1 << 16) || value > 1 << 16)
      return view.error("offset is " + std::to_string(value), "-65536 to 65536");
  return Resize{in[0],
                in[1],
                in[2],
                in[3],
                sources(in[1], out[1], scale[0], scale[1], offset[0]),
                sources(in[2], out[2], scale[2], scale[3], offset[1]),
                scale[0],
                scale[2]};
}

Result<Step> makeResize(const NodeView &view) {
  if (Status status = view.expect(4); !status)
    return status.error();
  Result<Resize> resize = readResize(view);
  if (!resize)
    return resize.error();
  ElementType in = view.in(0).type, out = view.out().type;
  if (view.text("mode") == "NEAREST_NEIGHBOR" && in == out) {
    if (in == ElementType::I8)
      return nearest<int8_t>(*resize);
    if (in == ElementType::I16)
      return nearest<int16_t>(*resize);
    if (in == ElementType::F32)
      return nearest<float>(*resize);
  }
  if (view.text("mode") == "BILINEAR") {
    if (in == ElementType::I8 && out == ElementType::I32)
      return bilinear<int8_t, int32_t>(*resize);
    if (in == ElementType::I16 && out == ElementType::I48)
      return bilinear<int16_t, int64_t>(*resize);
    if (in == ElementType::F32 && out == ElementType::F32)
      return bilinear<float, float>(*resize);
  }
  return view.unsupported();
}

} // namespace

StepMaker conquer::findResize(std::string_view op) {
  return op == "tosa.resize" ? makeResize : nullptr;
}
