//===- ConvolutionGeometry.h - checked sizes of a convolution ---------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_CONVOLUTIONGEOMETRY_H
#define CONQUER_OPT_EVALUATOR_CONVOLUTIONGEOMETRY_H

#include "conquer-opt/Evaluator/Step.h"

namespace conquer {

/// Fills batch, sizes, strides, dilations and pads of conv2d and depthwise_conv2d of either dialect
/// and checks that result, operands and attributes agree; the other fields stay 0.
Result<cq_conv2d_params> readConvolution(const NodeView &view, bool depthwise);

/// conquer.conv2d and conquer.depthwise_conv2d, one kernel call each.
Result<Step> makeFused(const NodeView &view);

/// Convolutions and matrix products by plain loops, for the forms that no kernel covers.
Result<Step> makePlainConvolution(const NodeView &view);
Result<Step> makePlainDepthwise(const NodeView &view);
Result<Step> makeTransposeConvolution(const NodeView &view);
Result<Step> makeMatMul(const NodeView &view);

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_CONVOLUTIONGEOMETRY_H
