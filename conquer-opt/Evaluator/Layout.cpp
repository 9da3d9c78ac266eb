//===- Layout.cpp - operations that move elements ---------------------------------------------===//
//
// pad, concat, slice, transpose, tile, reverse, gather. All copy elements of 1, 2, 4 or 8 bytes
// whatever they mean, through one routine: a walk over the output in which the input's position
// advances by strides.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Evaluator/Step.h"

#include <algorithm>
#include <cstring>

using namespace conquer;

namespace {

/// out[index of shape] = in[base + sum of index * stride]; the output is written at outBase with
/// its own strides.
struct Move {
  std::vector<int64_t> shape, inStrides, outStrides;
  int64_t inBase = 0, outBase = 0;
};

std::vector<int64_t> denseStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
    strides[d] = stride;
  return strides;
}

/// Merges neighbouring dimensions that both sides walk as one, and drops those of size 1.
void simplify(Move &move) {
  Move result;
  for (size_t d = 0; d < move.shape.size(); ++d) {
    if (move.shape[d] == 1)
      continue;
    if (!result.shape.empty() && result.inStrides.back() == move.inStrides[d] * move.shape[d] &&
        result.outStrides.back() == move.outStrides[d] * move.shape[d]) {
      result.shape.back() *= move.shape[d];
      result.inStrides.back() = move.inStrides[d];
      result.outStrides.back() = move.outStrides[d];
    } else {
      result.shape.push_back(move.shape[d]);
      result.inStrides.push_back(move.inStrides[d]);
      result.outStrides.push_back(move.outStrides[d]);
    }
  }
  if (result.shape.empty()) {
    result.shape = {1};
    result.inStrides = result.outStrides = {1};
  }
  move.shape = result.shape;
  move.inStrides = result.inStrides;
  move.outStrides = result.outStrides;
}

template <typename T>
void moveRow(const T *in, T *out, int64_t count, int64_t stepIn, int64_t stepOut) {
  if (stepIn == 1 && stepOut == 1)
    std::memcpy(out, in, count * sizeof(T));
  else
    for (int64_t i = 0; i < count; ++i)
      out[i * stepOut] = in[i * stepIn];
}

template <typename T> void moveElements(const Move &move, size_t depth, const T *in, T *out) {
  int64_t count = move.shape[depth], stepIn = move.inStrides[depth],
          stepOut = move.outStrides[depth];
  if (depth + 1 == move.shape.size())
    return moveRow(in, out, count, stepIn, stepOut);
  for (int64_t i = 0; i < count; ++i)
    moveElements(move, depth + 1, in + i * stepIn, out + i * stepOut);
}

void runMove(const Move &move, size_t bytes, const void *in, void *out) {
  if (std::find(move.shape.begin(), move.shape.end(), 0) != move.shape.end())
    return;
  auto run = [&](auto zero) {
    using T = decltype(zero);
    moveElements<T>(move, 0, static_cast<const T *>(in) + move.inBase,
                    static_cast<T *>(out) + move.outBase);
  };
  if (bytes == 1)
    run(uint8_t());
  else if (bytes == 2)
    run(uint16_t());
  else if (bytes == 4)
    run(uint32_t());
  else
    run(uint64_t());
}

Result<Step> moveStep(const NodeView &view, Move move) {
  if (view.in(0).type != view.out().type)
    return view.unsupported();
  simplify(move);
  size_t bytes = elementBytes(view.out().type);
  return Step{[move, bytes](const Operands &operands) {
    runMove(move, bytes, operands.inputs[0], operands.outputs[0]);
  }};
}

Error rankError(const NodeView &view) {
  return view.error("operand " + view.in(0).typeName() + " does not fit result " +
                    view.out().typeName());
}

Result<Step> makeTranspose(const NodeView &view) {
  if (Status status = view.expect(1); !status)
    return status.error();
  std::vector<int64_t> perms = view.integers("perms");
  const std::vector<int64_t> &in = view.in(0).shape, &out = view.out().shape;
  if (perms.size() != in.size() || out.size() != in.size())
    return rankError(view);
  std::vector<int64_t> strides = denseStrides(in);
  Move move{out, {}, denseStrides(out)};
  std::vector<bool> seen(in.size());
  for (size_t d = 0; d < perms.size(); ++d) {
    if (perms[d] < 0 || perms[d] >= static_cast<int64_t>(in.size()) || seen[perms[d]] ||
        out[d] != in[perms[d]])
      return view.error("perms do not lead from " + view.in(0).typeName() + " to " +
                        view.out().typeName());
    seen[perms[d]] = true;
    move.inStrides.push_back(strides[perms[d]]);
  }
  return moveStep(view, move);
}

Result<Step> makeSlice(const NodeView &view) {
  if (Status status = view.expect(3); !status)
    return status.error();
  Result<std::vector<int64_t>> start = view.constantIntegers(1);
  if (!start)
    return start.error();
  const std::vector<int64_t> &in = view.in(0).shape, &out = view.out().shape;
  if (start->size() != in.size() || out.size() != in.size())
    return rankError(view);
  Move move{out, denseStrides(in), denseStrides(out)};
  for (size_t d = 0; d < in.size(); ++d) {
    if ((*start)[d] < 0 || (*start)[d] + out[d] > in[d])
      return view.error("the slice leaves " + view.in(0).typeName());
    move.inBase += (*start)[d] * move.inStrides[d];
  }
  return moveStep(view, move);
}

Result<Step> makeReverse(const NodeView &view) {
  if (Status status = view.expect(1); !status)
    return status.error();
  const std::vector<int64_t> &shape = view.in(0).shape;
  int64_t axis = view.integer("axis", -1);
  if (shape != view.out().shape || axis < 0 || axis >= static_cast<int64_t>(shape.size()))
    return rankError(view);
  Move move{shape, denseStrides(shape), denseStrides(shape)};
  move.inBase = std::max<int64_t>(shape[axis] - 1, 0) * move.inStrides[axis];
  move.inStrides[axis] = -move.inStrides[axis];
  return moveStep(view, move);
}

/// Tiling is a copy in which every dimension is split in (repeat, original).
Result<Step> makeTile(const NodeView &view) {
  if (Status status = view.expect(2); !status)
    return status.error();
  const std::vector<int64_t> &in = view.in(0).shape, &out = view.out().shape;
  if (in.size() != out.size())
    return rankError(view);
  std::vector<int64_t> inStrides = denseStrides(in), outStrides = denseStrides(out);
  Move move;
  for (size_t d = 0; d < in.size(); ++d) {
    if (in[d] < 1 || out[d] % in[d])
      return rankError(view);
    move.shape.insert(move.shape.end(), {out[d] / in[d], in[d]});
    move.inStrides.insert(move.inStrides.end(), {0, inStrides[d]});
    move.outStrides.insert(move.outStrides.end(), {in[d] * outStrides[d], outStrides[d]});
  }
  return moveStep(view, move);
}

template <typename T> void fill(void *out, int64_t count, const void *value) {
  T element;
  std::memcpy(&element, value, sizeof element);
  std::fill_n(static_cast<T *>(out), count, element);
}

Result<Step> makePad(const NodeView &view) {
  if (Status status = view.expect(3); !status)
    return status.error();
  Result<std::vector<int64_t>> pads = view.constantIntegers(1);
  if (!pads)
    return pads.error();
  const std::vector<int64_t> &in = view.in(0).shape, &out = view.out().shape;
  if (pads->size() != 2 * in.size() || out.size() != in.size() ||
      view.in(0).type != view.out().type || view.in(2).type != view.out().type ||
      view.in(2).elements() != 1)
    return rankError(view);
  Move move{in, denseStrides(in), denseStrides(out)};
  for (size_t d = 0; d < in.size(); ++d) {
    int64_t before = (*pads)[2 * d], after = (*pads)[2 * d + 1];
    if (before < 0 || after < 0 || in[d] + before + after != out[d])
      return view.error("pads do not lead from " + view.in(0).typeName() + " to " +
                        view.out().typeName());
    move.outBase += before * move.outStrides[d];
  }
  simplify(move);
  size_t bytes = elementBytes(view.out().type);
  int64_t count = view.out().elements();
  return Step{[move, bytes, count](const Operands &operands) {
    auto set = bytes == 1   ? fill<uint8_t>
               : bytes == 2 ? fill<uint16_t>
               : bytes == 4 ? fill<uint32_t>
                            : fill<uint64_t>;
    set(operands.outputs[0], count, operands.inputs[2]);
    runMove(move, bytes, operands.inputs[0], operands.outputs[0]);
  }};
}

Result<Step> makeConcat(const NodeView &view) {
  int64_t axis = view.integer("axis", -1);
  const std::vector<int64_t> &out = view.out().shape;
  if (axis < 0 || axis >= static_cast<int64_t>(out.size()))
    return view.error("axis is " + std::to_string(axis));
  std::vector<int64_t> outStrides = denseStrides(out);
  std::vector<Move> moves;
  int64_t at = 0;
  for (size_t i = 0; i < view.numInputs(); ++i) {
    const Value &in = view.in(i);
    if (in.shape.size() != out.size() || in.type != view.out().type)
      return view.error("operand " + std::to_string(i) + " is " + in.typeName());
    for (size_t d = 0; d < out.size(); ++d)
      if (static_cast<int64_t>(d) != axis && in.shape[d] != out[d])
        return view.error("operand " + std::to_string(i) + " is " + in.typeName());
    Move move{in.shape, denseStrides(in.shape), outStrides, 0, at * outStrides[axis]};
    at += in.shape[axis];
    simplify(move);
    moves.push_back(move);
  }
  if (at != out[axis])
    return view.error("the operands have " + std::to_string(at) + " slices, the result " +
                      std::to_string(out[axis]));
  size_t bytes = elementBytes(view.out().type);
  return Step{[moves, bytes](const Operands &operands) {
    for (size_t i = 0; i < moves.size(); ++i)
      runMove(moves[i], bytes, operands.inputs[i], operands.outputs[0]);
  }};
}

/// values [N, K, C], indices [N, W] i32 -> [N, W, C]. Indices outside 0..K-1, which TOSA excludes,
/// are moved to the nearest end.
Result<Step> makeGather(const NodeView &view) {
  if (Status status = view.expect(2); !status)
    return status.error();
  const std::vector<int64_t> &values = view.in(0).shape, &indices = view.in(1).shape;
  if (values.size() != 3 || indices.size() != 2 || view.in(1).type != ElementType::I32 ||
      view.in(0).type != view.out().type || values[1] < 1 || indices[0] != values[0] ||
      view.out().shape != std::vector<int64_t>{values[0], indices[1], values[2]})
    return rankError(view);
  int64_t batch = values[0], rows = values[1], picks = indices[1];
  size_t rowBytes = values[2] * elementBytes(view.out().type);
  return Step{[batch, rows, picks, rowBytes](const Operands &operands) {
    const char *in = operands.in<char>(0);
    const int32_t *index = operands.in<int32_t>(1);
    char *out = operands.out<char>();
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t i = 0; i < picks; ++i, out += rowBytes) {
        int64_t row = std::clamp<int64_t>(index[n * picks + i], 0, rows - 1);
        std::memcpy(out, in + (n * rows + row) * rowBytes, rowBytes);
      }
  }};
}

} // namespace

StepMaker conquer::findLayout(std::string_view op) {
  static const std::unordered_map<std::string_view, StepMaker> makers = {
      {"tosa.transpose", makeTranspose}, {"tosa.slice", makeSlice}, {"tosa.reverse", makeReverse},
      {"tosa.tile", makeTile},           {"tosa.pad", makePad},     {"tosa.concat", makeConcat},
      {"tosa.gather", makeGather},
  };
  auto found = makers.find(op);
  return found == makers.end() ? nullptr : found->second;
}
