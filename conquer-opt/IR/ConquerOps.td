//===- ConquerOps.td - the conquer dialect -----------------------------*- tablegen -*-===//
//
// Fused operations: each stands for one call of one microkernel. `fuse` makes them from quantised
// TOSA, the evaluator runs them, `lower` turns them into dispatches of external code.
//
//===----------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_IR_CONQUEROPS_TD
#define CONQUER_OPT_IR_CONQUEROPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Conquer_Dialect : Dialect {
  let name = "conquer";
  let cppNamespace = "::conquer";
  let summary = "Fused operations of mixed-precision networks, one per kernel call";
  let description = [{
    Discardable attributes of this dialect, on ops of any dialect:

    * `conquer.id` (string): the stable name of an op that computes an activation, and of function
      arguments and results. Written by import and prepare, kept by every pass, the key of policies and
      calibration.
    * `conquer.precision` (string, as in hardware/Precision.h): the precision an op runs in. Written by
      quantize, read by the contract pass and by reports.
    * `conquer.layer` (string): on a layer that quantize rewrote, its layer id. The `conquer.id` has moved to the
      op whose result now stands for the layer's value, the last of the layer's requantisation.
    * `conquer.scale` (f32) and `conquer.zero_point` (i32): on the op whose result is an i8 activation,
      real = scale * (code - zero_point). Written by quantize, read by error reports; the arithmetic itself is
      spelled out in the ops.
    * `conquer.conversions` (dictionary of i64), on the module: how often quantize changes precision: `quantize`
      (f32 to i8), `dequantize` (i8 to f32), `direct` (layers that give f32 from their accumulator), `round` (f32 to
      bf16 or f16), `widen` (back).
  }];
  let hasConstantMaterializer = 0;
  let discardableAttrs = (ins
    "::mlir::StringAttr":$id, "::mlir::StringAttr":$layer, "::mlir::StringAttr":$precision,
    "::mlir::FloatAttr":$scale, "::mlir::IntegerAttr":$zero_point,
    "::mlir::DictionaryAttr":$conversions);
}

class Conquer_ConvOp<string mnemonic> : Op<Conquer_Dialect, mnemonic, [Pure]> {
  let arguments = (ins
    4DTensorOf<[I8, BF16]>:$input,
    4DTensorOf<[I<4>, I8, BF16]>:$weights,
    1DTensorOf<[I32, F32]>:$bias,
    Optional<1DTensorOf<[F32]>>:$multiplier,
    DenseI64ArrayAttr:$pad,
    DenseI64ArrayAttr:$stride,
    DenseI64ArrayAttr:$dilation,
    DefaultValuedAttr<I32Attr, "0">:$input_zp,
    DefaultValuedAttr<I32Attr, "0">:$output_zp,
    DefaultValuedAttr<I32Attr, "-128">:$clamp_min,
    DefaultValuedAttr<I32Attr, "127">:$clamp_max,
    DefaultValuedAttr<F32Attr, "-std::numeric_limits<float>::max()">:$clamp_min_f32,
    DefaultValuedAttr<F32Attr, "std::numeric_limits<float>::max()">:$clamp_max_f32);
  let results = (outs 4DTensorOf<[I8, BF16, F32]>:$output);
  let assemblyFormat = [{
    $input `,` $weights `,` $bias (`,` $multiplier^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  code epilogueDescription = [{
    The types name the precision:

    | precision | input | weights | bias | multiplier | result |
    |---|---|---|---|---|---|
    | i8 | i8 | i8 | i32 | f32 | i8 or f32 |
    | w4a8 | i8 | i4 | i32 | f32 | i8 or f32 |
    | bf16 | bf16 | bf16 | f32 | none | bf16 |

    With acc the exact i32 sum over the taps of (input - input_zp) * weight, plus bias[c] (padding is real zero):

    * i8 result: `output_zp + rne(clamp(f32(acc) * multiplier[c], clamp_min - output_zp, clamp_max - output_zp))`
    * f32 result: `clamp(f32(acc) * multiplier[c], clamp_min_f32, clamp_max_f32)`

    bf16: with acc the f32 sum over ky, kx, ic of input * weight, plus bias[c], the result is acc clamped to
    clamp_min_f32 .. clamp_max_f32 (bf16 numbers, or the defaults, which bound nothing) and rounded once to nearest even; NaN
    stays NaN. A zero point is of no meaning and must be 0.

    pad is top, bottom, left, right; stride and dilation are height, width. The weights are as in TOSA, not packed.
  }];
}

def Conquer_Conv2DOp : Conquer_ConvOp<"conv2d"> {
  let summary = "convolution with its epilogue, one kernel call";
  let description = "Weights [OC, KH, KW, IC], input [N, H, W, IC], output [N, OH, OW, OC]." # epilogueDescription;
}

def Conquer_DepthwiseConv2DOp : Conquer_ConvOp<"depthwise_conv2d"> {
  let summary = "depthwise convolution with its epilogue, one kernel call";
  let description = "Weights [KH, KW, C, 1], input [N, H, W, C], output [N, OH, OW, C]." # epilogueDescription;
}

#endif // CONQUER_OPT_IR_CONQUEROPS_TD
