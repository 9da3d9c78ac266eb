//===- Broadcast.h - walking operands of equal rank -------------------------------------------===//
//
// TOSA's elementwise operations take operands of equal rank whose dimensions are equal or 1. A
// Broadcast collapses the dimensions once; forRows then visits rows in which every operand is
// either contiguous or constant.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_BROADCAST_H
#define CONQUER_OPT_EVALUATOR_BROADCAST_H

#include "conquer-opt/Evaluator/Step.h"

#include <array>

namespace conquer {

template <size_t N> struct Broadcast {
  std::vector<int64_t> shape;                  ///< collapsed, innermost last, at least one
  std::array<std::vector<int64_t>, N> strides; ///< in elements, 0 where repeated
  int64_t row() const { return shape.back(); }
  int64_t step(size_t operand) const { return strides[operand].back(); }
};

/// The walk of a node's first N operands over its result; an Error where shapes do not fit.
template <size_t N> Result<Broadcast<N>> makeBroadcast(const NodeView &view) {
  const std::vector<int64_t> &out = view.out().shape;
  std::array<std::vector<int64_t>, N> strides;
  for (size_t k = 0; k < N; ++k) {
    const std::vector<int64_t> &in = view.in(k).shape;
    if (in.size() != out.size())
      return view.error("operand " + std::to_string(k) + " is " + view.in(k).typeName(),
                        "the rank of the result, " + view.out().typeName());
    strides[k].resize(out.size());
    int64_t stride = 1;
    for (size_t d = out.size(); d-- > 0;) {
      if (in[d] != out[d] && in[d] != 1)
        return view.error("operand " + std::to_string(k) + " is " + view.in(k).typeName(),
                          "dimensions of " + view.out().typeName() + ", or 1");
      strides[k][d] = in[d] == 1 ? 0 : stride;
      stride *= in[d];
    }
  }
  // Merge a dimension into the one before it when no operand sees the border between them.
  Broadcast<N> walk;
  for (size_t d = 0; d < out.size(); ++d) {
    if (out[d] == 1)
      continue;
    bool merge = !walk.shape.empty();
    for (size_t k = 0; k < N && merge; ++k)
      merge = walk.strides[k].back() == strides[k][d] * out[d];
    if (!merge)
      walk.shape.push_back(out[d]);
    else
      walk.shape.back() *= out[d];
    for (size_t k = 0; k < N; ++k) {
      if (!merge)
        walk.strides[k].push_back(strides[k][d]);
      else
        walk.strides[k].back() = strides[k][d];
    }
  }
  if (walk.shape.empty()) {
    walk.shape.push_back(1);
    for (auto &list : walk.strides)
      list.push_back(0);
  }
  return walk;
}

/// Calls row(outputOffset, offsets of the operands) for every row.
template <size_t N, typename Row> void forRows(const Broadcast<N> &walk, Row row) {
  size_t outer = walk.shape.size() - 1;
  std::array<int64_t, N> offsets{};
  std::array<int64_t, 8> index{};
  int64_t rows = 1;
  for (size_t d = 0; d < outer; ++d)
    rows *= walk.shape[d];
  for (int64_t r = 0; r < rows; ++r) {
    row(r * walk.row(), offsets);
    for (size_t d = outer; d-- > 0;) {
      for (size_t k = 0; k < N; ++k)
        offsets[k] += walk.strides[k][d];
      if (++index[d] < walk.shape[d])
        break;
      index[d] = 0;
      for (size_t k = 0; k < N; ++k)
        offsets[k] -= walk.strides[k][d] * walk.shape[d];
    }
  }
}

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_BROADCAST_H
