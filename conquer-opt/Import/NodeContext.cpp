//===- NodeContext.cpp - what the conversion of one ONNX node sees ----------------------------===//
#include "conquer-opt/Import/NodeContext.h"

namespace conquer::importer {

std::string NodeContext::where() const {
  return model.path + ": node '" + node.name + "' (" + node.op + ")";
}

Error NodeContext::error(std::string what, std::string expected, std::string fix) const {
  return Error{std::move(what), where(), std::move(expected), std::move(fix)};
}

bool NodeContext::hasInput(size_t index) const {
  return index < node.inputs.size() && !node.inputs[index].empty();
}

const Tensor *NodeContext::constant(size_t index) const {
  return hasInput(index) ? input(index).constant : nullptr;
}

Result<const Tensor *> NodeContext::optionalConstant(size_t index) const {
  if (hasInput(index) && !constant(index))
    return error("input '" + node.inputs[index] + "' is computed", "a constant",
                 "export the model with constant parameters");
  return constant(index);
}

Result<std::optional<std::vector<int64_t>>>
NodeContext::integers(size_t index, const std::string &attribute) const {
  using Found = std::optional<std::vector<int64_t>>;
  if (node.has(attribute))
    return Found(node.getInts(attribute, {}));
  Result<const Tensor *> tensor = optionalConstant(index);
  if (!tensor)
    return tensor.error();
  if (!*tensor)
    return Found();
  if ((*tensor)->isFloat || (*tensor)->shape.size() > 1)
    return error("input '" + node.inputs[index] + "' is not a list of integers",
                 "a constant of rank 1 and type int64", "");
  return Found((*tensor)->ints);
}

Result<int64_t> NodeContext::axis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank)
    return error("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank),
                 std::to_string(-rank) + " to " + std::to_string(rank - 1), "");
  return axis < 0 ? axis + rank : axis;
}

Result<std::vector<int64_t>> NodeContext::axes(const std::vector<int64_t> &axes,
                                               int64_t rank) const {
  std::vector<int64_t> result;
  std::vector<bool> seen(rank, false);
  for (int64_t given : axes) {
    Result<int64_t> one = axis(given, rank);
    if (!one)
      return one.error();
    if (seen[*one])
      return error("axis " + std::to_string(given) + " is given twice", "each axis once", "");
    seen[*one] = true;
    result.push_back(*one);
  }
  return result;
}

Status NodeContext::output(size_t index, Value value) const {
  if (!value.constant && elementCount(value.shape) < 1)
    return error("the result has the shape " + toString(value.shape),
                 "at least one and at most 2^31 elements", "");
  values[node.outputs[index]] = std::move(value);
  return success();
}

//===------------------------------------------------------------------------------------------===//
// The operators
//===------------------------------------------------------------------------------------------===//

const std::map<std::string, OpRule> &opRules() {
  using K = Attribute::Kind;
  constexpr size_t any = 1 << 16;
  const std::map<std::string, K> none, axis = {{"axis", K::Int}}, axes = {{"axes", K::Ints}};
  const std::map<std::string, K> window = {{"auto_pad", K::String}, {"ceil_mode", K::Int},
                                           {"dilations", K::Ints},  {"kernel_shape", K::Ints},
                                           {"pads", K::Ints},       {"storage_order", K::Int},
                                           {"strides", K::Ints},    {"count_include_pad", K::Int}};
  static const std::map<std::string, OpRule> rules = {
      {"Conv",
       {convertConv,
        2,
        3,
        1,
        {{"auto_pad", K::String},
         {"dilations", K::Ints},
         {"group", K::Int},
         {"kernel_shape", K::Ints},
         {"pads", K::Ints},
         {"strides", K::Ints}}}},
      {"MaxPool", {convertMaxPool, 1, 1, 2, window}},
      {"AveragePool", {convertAveragePool, 1, 1, 1, window}},
      {"GlobalAveragePool", {convertGlobalAveragePool, 1, 1, 1, none}},
      {"GlobalMaxPool", {convertGlobalMaxPool, 1, 1, 1, none}},
      {"BatchNormalization",
       {convertBatchNormalization,
        5,
        5,
        5,
        {{"epsilon", K::Float},
         {"momentum", K::Float},
         {"training_mode", K::Int},
         {"spatial", K::Int}}}},
      {"Softmax", {convertSoftmax, 1, 1, 1, axis}},
      {"ReduceMean",
       {convertReduceMean,
        1,
        2,
        1,
        {{"axes", K::Ints}, {"keepdims", K::Int}, {"noop_with_empty_axes", K::Int}}}},
      {"Relu", {convertRelu, 1, 1, 1, none}},
      {"Clip", {convertClip, 1, 3, 1, {{"min", K::Float}, {"max", K::Float}}}},
      {"Sigmoid", {convertSigmoid, 1, 1, 1, none}},
      {"HardSigmoid", {convertHardSigmoid, 1, 1, 1, {{"alpha", K::Float}, {"beta", K::Float}}}},
      {"HardSwish", {convertHardSwish, 1, 1, 1, none}},
      {"LeakyRelu", {convertLeakyRelu, 1, 1, 1, {{"alpha", K::Float}}}},
      {"PRelu", {convertPRelu, 2, 2, 1, none}},
      {"Tanh", {convertTanh, 1, 1, 1, none}},
      {"Add", {convertAdd, 2, 2, 1, none}},
      {"Sub", {convertSub, 2, 2, 1, none}},
      {"Mul", {convertMul, 2, 2, 1, none}},
      {"Div", {convertDiv, 2, 2, 1, none}},
      {"Max", {convertMax, 1, any, 1, none}},
      {"Min", {convertMin, 1, any, 1, none}},
      {"Identity", {convertIdentity, 1, 1, 1, none}},
      {"Dropout", {convertIdentity, 1, 3, 2, {{"ratio", K::Float}, {"seed", K::Int}}}},
      {"Constant",
       {convertConstant,
        0,
        0,
        1,
        {{"value", K::Tensor},
         {"value_float", K::Float},
         {"value_floats", K::Floats},
         {"value_int", K::Int},
         {"value_ints", K::Ints}}}},
      {"Pad", {convertPad, 1, 4, 1, {{"mode", K::String}, {"pads", K::Ints}, {"value", K::Float}}}},
      {"Flatten", {convertFlatten, 1, 1, 1, axis}},
      {"Reshape", {convertReshape, 2, 2, 1, {{"allowzero", K::Int}}}},
      {"Squeeze", {convertSqueeze, 1, 2, 1, axes}},
      {"Unsqueeze", {convertUnsqueeze, 1, 2, 1, axes}},
      {"Transpose", {convertTranspose, 1, 1, 1, {{"perm", K::Ints}}}},
      {"Concat", {convertConcat, 1, any, 1, axis}},
      {"Split",
       {convertSplit, 1, 2, any, {{"axis", K::Int}, {"split", K::Ints}, {"num_outputs", K::Int}}}},
      {"Slice",
       {convertSlice, 1, 5, 1, {{"starts", K::Ints}, {"ends", K::Ints}, {"axes", K::Ints}}}},
      {"Gemm",
       {convertGemm,
        2,
        3,
        1,
        {{"alpha", K::Float}, {"beta", K::Float}, {"transA", K::Int}, {"transB", K::Int}}}},
      {"MatMul", {convertMatMul, 2, 2, 1, none}},
  };
  return rules;
}

} // namespace conquer::importer
