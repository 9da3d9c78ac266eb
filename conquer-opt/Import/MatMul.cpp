//===- MatMul.cpp - fully connected layers and products of matrices ---------------------------===//
#include "conquer-opt/Import/NodeContext.h"

#include <algorithm>

namespace conquer::importer {
namespace {

/// x [M, K] times weights [N, K] plus bias [N], as a 1x1 convolution over M images of one pixel:
/// the form that brings bias and per-channel scales. If x is a flattened image held channels last,
/// the weights are brought into that order instead of the activations into ONNX's.
Value fullyConnected(Emitter &emit, const Value &x, Tensor weight, const std::vector<float> &bias) {
  int64_t rows = x.shape[0], inputs = x.shape[1], outputs = weight.shape[0];
  Value pixels = x;
  if (x.layout == Layout::FlatChannelsLast) {
    Shape split = {outputs, x.image[1], x.image[2], x.image[3]};
    weight.floats = permuted(weight.floats, split, toChannelsLast);
    pixels.layout = Layout::Model;
  }
  weight.shape = {outputs, inputs, 1, 1};
  std::vector<Axis> window(2);
  for (Axis &axis : window)
    axis.input = axis.output = 1;
  Value y =
      emit.conv2d(emit.reshape(pixels, {rows, inputs, 1, 1}, "reshape"), weight, bias, window);
  return emit.reshape(y, {rows, outputs}, "reshape");
}

/// A matrix transposed if asked.
Tensor oriented(const Tensor &matrix, bool transpose) {
  Tensor result = matrix;
  if (transpose) {
    result.floats = permuted(matrix.floats, matrix.shape, {1, 0});
    result.shape = permuted(matrix.shape, {1, 0});
  }
  return result;
}

/// The general product of two activations of rank 2.
Value multiply(Emitter &emit, const Value &a, const Value &b, const std::string &part) {
  Value x = emit.reshape(a, {1, a.shape[0], a.shape[1]}, "reshape");
  Value y = emit.reshape(b, {1, b.shape[0], b.shape[1]}, "reshape");
  return emit.reshape(emit.matmul(x, y, part), {a.shape[0], b.shape[1]}, "reshape");
}

} // namespace

/// alpha * A' * B' + beta * C.
Status convertGemm(const NodeContext &at) {
  Emitter &emit = at.emit;
  bool transA = at.node.getInt("transA", 0) != 0, transB = at.node.getInt("transB", 0) != 0;
  float alpha = at.node.getFloat("alpha", 1.0f), beta = at.node.getFloat("beta", 1.0f);
  Value a = at.input(0), b = at.input(1);
  if (a.rank() != 2 || b.rank() != 2 || a.shape[!transA] != b.shape[transB])
    return at.error("operands of shapes " + toString(a.shape) + " and " + toString(b.shape),
                    "two matrices that can be multiplied");
  if (transA)
    a = emit.transpose(a, {1, 0}, "transpose");
  Shape result = {a.shape[0], b.shape[!transB]}, sum;
  Value c = at.hasInput(2) ? at.input(2) : Value();
  if (at.hasInput(2) && (!broadcast(result, c.shape, sum) || sum != result))
    return at.error("C of shape " + toString(c.shape),
                    "one that broadcasts to " + toString(result));

  // A constant C that is the same for every row is a bias.
  std::vector<float> bias(result[1], 0.0f);
  bool perColumn = c.constant && (c.rank() < 2 || c.shape[0] == 1);
  if (perColumn)
    for (size_t i = 0; i < bias.size(); ++i)
      bias[i] = beta * c.constant->floats[c.constant->floats.size() == 1 ? 0 : i];
  bool addLater = at.hasInput(2) && !perColumn;
  std::string part = addLater ? "product" : "";
  Value y;
  if (b.constant) {
    Tensor weight = oriented(*b.constant, !transB);
    for (float &element : weight.floats)
      element *= alpha;
    y = fullyConnected(emit, a, std::move(weight), bias);
  } else {
    if (transB)
      b = emit.transpose(b, {1, 0}, "transpose");
    if (alpha != 1.0f)
      a = emit.mul(a, emit.scalar(alpha), "scale");
    y = multiply(emit, a, b, perColumn ? "product" : part);
    if (perColumn)
      y = emit.add(y, emit.constantValue({result[1]}, bias));
  }
  if (addLater)
    y = emit.add(y, beta == 1.0f ? c : emit.mul(c, emit.scalar(beta), "scale"), "add");
  return at.output(y);
}

/// Numpy's matmul: the last two axes are matrices, the others broadcast.
Status convertMatMul(const NodeContext &at) {
  Emitter &emit = at.emit;
  Value a = at.input(0), b = at.input(1);
  Error shapes = at.error("operands of shapes " + toString(a.shape) + " and " + toString(b.shape),
                          "matrices that can be multiplied");
  bool vectorA = a.rank() == 1, vectorB = b.rank() == 1;
  if (a.rank() == 0 || b.rank() == 0)
    return shapes;
  if (vectorA)
    a = emit.reshape(a, {1, a.shape[0]}, "reshape");
  if (vectorB)
    b = emit.reshape(b, {b.shape[0], 1}, "reshape");
  int64_t rows = a.shape[a.rank() - 2], inner = a.shape.back(), columns = b.shape.back();
  Shape batchA(a.shape.begin(), a.shape.end() - 2), batchB(b.shape.begin(), b.shape.end() - 2);
  Shape batch;
  if (b.shape[b.rank() - 2] != inner || !broadcast(batchA, batchB, batch))
    return shapes;
  Shape result = batch;
  if (!vectorA)
    result.push_back(rows);
  if (!vectorB)
    result.push_back(columns);
  int64_t products = elementCount(batch);
  if (elementCount(result) < 1 || products < 1)
    return at.error("the result has the shape " + toString(result), "at most 2^31 elements");

  if (b.constant && b.rank() == 2) {
    Tensor weight = oriented(*b.constant, true);
    Value x = emit.reshape(a, {products * rows, inner}, "reshape");
    Value y = fullyConnected(emit, x, std::move(weight), std::vector<float>(columns, 0.0f));
    return at.output(emit.reshape(y, result, "reshape"));
  }
  // Every matrix of the batch, repeated where the other operand has more.
  auto expanded = [&](const Value &x) {
    Shape shape(batch.size() + 2 - x.rank(), 1), multiples;
    shape.insert(shape.end(), x.shape.begin(), x.shape.end());
    for (size_t i = 0; i < shape.size(); ++i)
      multiples.push_back(i < batch.size() ? batch[i] / shape[i] : 1);
    Value tiled = emit.tile(emit.reshape(x, shape, "reshape"), multiples, "tile");
    return emit.reshape(tiled, {products, shape[batch.size()], shape.back()}, "reshape");
  };
  Value y = emit.matmul(expanded(a), expanded(b));
  return at.output(emit.reshape(y, result, "reshape"));
}

} // namespace conquer::importer
