//===- Passes.td - every pass of the compiler ---------------------------*- tablegen -*-===//
//
// One section per stage (prepare, quantize, fuse, lower). The description of a pass says what it
// needs, does, leaves, and when it fails, and names the lit test that shows it.
//
//===----------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_TRANSFORMS_PASSES_TD
#define CONQUER_OPT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------------------===//
// Prepare
//===----------------------------------------------------------------------------------===//

def CheckInputPass : Pass<"conquer-check-input", "mlir::ModuleOp"> {
  let summary = "Refuse what the compiler cannot start from, before any work is done";
  let description = [{
    Needs nothing. Changes nothing. Fails, with one error at the offending place, unless the module is one function with
    a body of one block, made of TOSA ops that the evaluator can run, whose inputs and outputs are ranked static f32
    tensors and whose activations are ranked and static, of type f32 (i1 and i32 for conditions and indices). Models that
    are already quantised are refused by name. The ops are: abs, add, argmax, avg_pool2d, cast, ceil, clamp, concat, conv2d,
    cos, depthwise_conv2d, equal, erf, exp, floor, gather, greater, greater_equal, identity, log, logical_and, logical_not,
    logical_or, matmul, max_pool2d, maximum, minimum, mul, negate, pad, pow, reciprocal, reduce_max, reduce_min,
    reduce_product, reduce_sum, reshape, resize, reverse, rsqrt, select, sigmoid, sin, slice, sub, tanh, tile,
    transpose_conv2d, transpose; any other op only where it depends on constants alone.
    Test: Transforms/check-input.mlir.
  }];
}

def FoldConstantsPass : Pass<"conquer-fold-constants", "mlir::func::FuncOp"> {
  let summary = "Compute what depends on constants only";
  let description = [{
    Needs static shapes. Replaces transposes, reshapes, slices, reversals, concatenations and small repetitions of
    constants of any type, and f32 arithmetic on constants (one rounding per op), by constants; large constants that the
    file holds as resources become plain ones. Never fails: what it cannot compute stays.
    Test: Transforms/fold-constants.mlir.
  }];
}

def MatMulToConvPass : Pass<"conquer-matmul-to-conv", "mlir::func::FuncOp"> {
  let summary = "Turn a matmul with constant weights into a 1x1 convolution";
  let description = [{
    Needs f32. The rows of the left operand become the pixels of one line, so that a fully connected layer has a bias and
    per-channel scales like every other layer. A matmul of two activations, or one with other weights for each element of
    the batch, stays. Test: Transforms/matmul-to-conv.mlir.
  }];
}

def PropagateLayoutPass : Pass<"conquer-propagate-layout", "mlir::func::FuncOp"> {
  let summary = "Move transposes of activations to the border, or remove them";
  let description = [{
    Needs static shapes. Transposes sink through elementwise ops, concat, pad, slice, tile, reverse and reductions (whose
    axes are renamed) until they meet their inverse; those before the first convolutions rise to the inputs. Two
    transposes around a reshape become one or none, one that only moves dimensions of size 1 becomes a reshape, and the
    flattening of a transposed image moves into the weights of the fully connected layer behind it.
    Test: Transforms/propagate-layout.mlir.
  }];
}

def FoldScalesPass : Pass<"conquer-fold-scales", "mlir::func::FuncOp"> {
  let summary = "Fold per-channel arithmetic with constants into the convolution beside it";
  let description = [{
    Needs constants where they are known (conquer-fold-constants). Additions, subtractions and multiplications by one
    constant per channel (batch norms, biases, input normalisation) that follow a convolution, or precede one, without
    other readers, become part of its weights and bias: collected in double precision, rounded once. A shift before a
    convolution with padding stays, because padding is zero before the shift. Three and more such ops in a row with no
    convolution beside them become one mul and one add.
    Test: Transforms/fold-scales.mlir.
  }];
}

def CanonicalizeClampsPass : Pass<"conquer-canonicalize-clamps", "mlir::func::FuncOp"> {
  let summary = "Make one clamp, next to its layer, of maximum, minimum and chains of clamps";
  let description = [{
    maximum and minimum with one finite number become clamps, consecutive clamps become one, and a clamp behind a reshape
    or max_pool of a layer without other readers moves to the layer.
    Test: Transforms/canonicalize-clamps.mlir.
  }];
}

def FoldPadsPass : Pass<"conquer-fold-pads", "mlir::func::FuncOp"> {
  let summary = "Fold explicit padding into convolutions and max_pool";
  let description = [{
    A tosa.pad of height and width with zero becomes part of the convolutions that read it; with the lowest number, or
    with zero if the image cannot be negative, part of a max_pool. A slice that only crops padding makes the padding
    smaller. avg_pool stays as it is: it never counts its own padding. Test: Transforms/fold-pads.mlir.
  }];
}

def AssignIdsPass : Pass<"conquer-assign-ids", "mlir::ModuleOp"> {
  let summary = "Give every op that computes an activation a unique and stable id";
  let description = [{
    Needs checked input. Names the function `main`. Leaves the string attribute `conquer.id` on every op whose result
    depends on an argument, on every argument and on every result. An id is the name in the op's location (the node of
    the source model), else `<op>_<n>`; `#2`, `#3`, ... is appended where an id is taken. Layers choose before other ops,
    so that the convolution of a node that became several ops has the node's plain name. Ids that are there stay.
    Test: Transforms/assign-ids.mlir.
  }];
}

def VerifyPreparedPass : Pass<"conquer-verify-prepared", "mlir::ModuleOp"> {
  let summary = "Check the contract of the prepare stage";
  let description = [{
    Changes nothing. Fails, with one error at the offending op, unless the input check still holds, every activation op,
    argument and result has a unique conquer.id, convolutions have constant f32 weights and biases, and no transpose
    reads a transpose. Warns where an image changes its layout between two ops that read N, H, W, C.
    Test: Transforms/verify-prepared-invalid.mlir.
  }];
}

def WriteLayersPass : Pass<"conquer-write-layers", "mlir::ModuleOp"> {
  let summary = "Write layers.json: the layers, their geometry, legal precisions and edges";
  let description = [{
    Needs prepared IR. Changes nothing. Writes the file of docs/formats.md, or nothing if no file is given; fails if the
    profile cannot be read or the file cannot be written.
    Test: Transforms/write-layers.mlir.
  }];
  let options = [
    Option<"layers", "layers", "std::string", /*default=*/"", "file to write; empty: none">,
    Option<"profile", "profile", "std::string", "\"host\"",
           "target profile: a name, a .json file, or 'host'">,
    Option<"profileDir", "profile-dir", "std::string", /*default=*/"",
           "folder of the profiles; default: data/profiles beside the program">,
  ];
}

//===----------------------------------------------------------------------------------===//
// Quantize
//===----------------------------------------------------------------------------------===//

class ConquerProfileOptions {
  list<Option> options = [
    Option<"profile", "profile", "std::string", "\"host\"",
           "Target profile: a name, a .json file, or 'host'">,
    Option<"profileDir", "profile-dir", "std::string", "\"\"",
           "Folder of the profiles; default: data/profiles beside the program">
  ];
}
defvar profileOptions = ConquerProfileOptions<>.options;

def AssignPrecisionsPass : Pass<"conquer-assign-precisions", "::mlir::ModuleOp"> {
  let summary = "Give every op of prepared IR the precision it runs in";
  let description = [{
    Needs prepared IR, whose layers have a `conquer.id`, and a policy that gives each of them a precision which
    the profile allows. Writes `conquer.precision` on every op that computes an activation: layers from the
    policy, all others by the rule of docs/precision-of-other-ops.md. Changes nothing else.

    Fails, with the id of the layer, when the policy has an unknown or lacks a known layer, when the profile
    does not allow a precision, and when a layer has no form of its precision (weights that are not constant).

    Example: test/Transforms/assign-precisions.mlir
  }];
  let options = [
    Option<"policy", "policy", "std::string", "", "policy.json">
  ] # profileOptions;
}

def QuantizePass : Pass<"conquer-quantize", "::mlir::ModuleOp"> {
  let summary = "Rewrite ops by their precision: integer TOSA, bf16, f16";
  let description = [{
    Needs `conquer.precision` on every op that computes an activation and the ranges of their values. Rewrites
    every i8 and w4a8 op as the chain of TOSA ops that docs/precision-of-other-ops.md spells, requantised as the
    profile says, with a clamp that directly follows a layer or an add folded into its code bounds. A value
    is converted at most once per form, behind its producer; an integer layer without an i8 reader gives f32
    straight from its accumulator. bf16 and f16 ops become the same op on that type. Function arguments and results stay f32.

    Leaves `conquer.id` on the op whose result stands for the original value, `conquer.layer` on the layer itself,
    `conquer.scale` and `conquer.zero_point` on ops with i8 results, and counts the conversions in the module's
    `conquer.conversions`: {quantize, dequantize, direct, round, widen} (direct: f32 from the accumulator).

    Fails, with the id, when a range is missing, a weight is not finite or leaves f16, or a value cannot be rescaled.

    Example: test/Transforms/quantize.mlir
  }];
  let options = [
    Option<"calibration", "calibration", "std::string", "", "calibration.json">
  ] # profileOptions;
  let dependentDialects = ["::mlir::tosa::TosaDialect"];
}

def VerifyQuantizedPass : Pass<"conquer-verify-quantized", "::mlir::ModuleOp"> {
  let summary = "Check that IR keeps the contract of the quantize stage";
  let description = [{
    Fails, located at the op, unless every layer has exactly one precision, which the profile allows and its types
    show, every layer id and every `conquer.id` occurs once, every i8 activation has its scale and zero point, and
    functions take and give no integers. On success attaches the TOSA target environment (specification 1.0, PRO-INT and
    PRO-FP, EXT-INT4 and EXT-BF16, level 8k; level none if there is a rank-4 pad, which MLIR's level check refuses by mistake), so that
    --tosa-validate=strict-op-spec-alignment can follow.

    Example: test/Transforms/verify-quantized-invalid.mlir
  }];
  let options = profileOptions;
  let dependentDialects = ["::mlir::tosa::TosaDialect"];
}

//===----------------------------------------------------------------------------------===//
// Fuse
//===----------------------------------------------------------------------------------===//

def FuseKernels : Pass<"conquer-fuse-kernels", "::mlir::func::FuncOp"> {
  let summary = "Turn convolutions and their epilogues into kernel calls";
  let description = [{
    Needs quantised TOSA. A `tosa.conv2d` or `tosa.depthwise_conv2d` on i8 values, with constant weights of i8 or i4, whose accumulator goes, and
    goes only, through cast to f32, mul by a constant per channel and, optionally, clamp becomes one `conquer` op with f32
    result; where cast to i32, add of the zero point and cast to i8 follow, one with i8 result. A bf16 convolution with
    constant weights, f32 accumulator and bf16 result becomes one `conquer` op with the clamp that follows. The fused op has the
    discardable attributes of the last op of the chain and the `conquer.layer` of the convolution. A crop before the convolution
    that only takes away rows and columns the windows do not reach (TOSA wants exact divisions, kernels do not) is dropped. Leaves
    what the profile has no kernel for and what the fused op
    cannot express (see `conquer-verify-fused`). Fails only if the profile cannot be read. Example:
    test/Transforms/fuse-kernels.mlir.
  }];
  let dependentDialects = ["::conquer::ConquerDialect", "::mlir::tosa::TosaDialect"];
  let options = [
    Option<"profile", "profile", "std::string", "\"host\"", "target profile: a name, 'host' or a .json file">,
    Option<"profileDir", "profile-dir", "std::string", "\"\"", "folder of the profiles (default: beside the program)">,
  ];
}

def VerifyFused : Pass<"conquer-verify-fused", "::mlir::func::FuncOp"> {
  let summary = "Check that every fused op has a kernel on the target";
  let description = [{
    The contract of the fuse stage. An op of the conquer dialect whose kind and precision the profile does not run on a kernel is an
    error. A convolution that could have had a kernel and was left in TOSA gets a remark that says why; it is correct, but
    slow. Changes nothing. Example: test/Transforms/verify-fused-invalid.mlir.
  }];
  let options = [
    Option<"profile", "profile", "std::string", "\"host\"", "target profile: a name, 'host' or a .json file">,
    Option<"profileDir", "profile-dir", "std::string", "\"\"", "folder of the profiles (default: beside the program)">,
  ];
}

def ProbeValues : Pass<"conquer-probe-values", "::mlir::func::FuncOp"> {
  let summary = "Return every activation from main, so that a module can be checked op by op";
  let description = [{
    Appends to the results of `main` every activation that a check needs: results of ops with a `conquer.id`, of conquer ops,
    their non-constant operands, and the arguments. Each added result has the result attributes `conquer.value` (its index
    among all results, from 0) and, if the producer has one, `conquer.id`. Other functions stay. Never fails. Example:
    test/Transforms/probe-values.mlir.
  }];
}

//===----------------------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------------------===//

def LowerKernels : Pass<"conquer-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn conquer ops into dispatches of external kernels, for IREE";
  let description = [{
    Needs fused IR with constant weights, bias and multipliers. Each conquer op becomes a `flow.dispatch` of one of the exports of
    a `stream.executable` that calls the level's kernel; weights are packed here, the geometry becomes a constant. The work is split
    into workgroups of about 50 microseconds. IREE's dialects are opaque here (IreeDialects.h). Fails where an operand that must be constant
    is not, or the profile's kernel level is not part of this build. Fails at a w4a8 or w8a16 layer that is no conquer op: IREE computes
    i4 and i48 wrongly on some targets. Example: test/Transforms/lower-kernels.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::tosa::TosaDialect",
                           "::conquer::FlowDialect", "::conquer::HalDialect", "::conquer::StreamDialect"];
  let options = [
    Option<"profile", "profile", "std::string", "\"host\"", "target profile: a name, 'host' or a .json file">,
    Option<"profileDir", "profile-dir", "std::string", "\"\"", "folder of the profiles (default: beside the program)">,
  ];
}

def SeparateConversions : Pass<"conquer-separate-conversions", "::mlir::ModuleOp"> {
  let summary = "Keep IREE from recomputing conversions to f32 inside their readers";
  let description = [{
    Puts a `util.optimization_barrier` between a conversion to f32, from i8 (cast, sub, cast, mul), bf16 or f16 (cast), and each reader that uses elements more
    than once or only some of them: convolution, matmul, pooling, pad, slice. IREE would clone the conversion into the reader's dispatch, for
    the whole tensor at once, on a stack of 32 KiB. Elementwise readers keep the conversion, which IREE fuses well. Never fails. Example:
    test/Transforms/separate-conversions.mlir.
  }];
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::conquer::UtilDialect"];
}

def KeepRounding : Pass<"conquer-keep-rounding", "::mlir::ModuleOp"> {
  let summary = "Keep IREE from dropping the bf16 roundings between two ops";
  let description = [{
    Puts a `util.optimization_barrier` between a TOSA op that rounds its result to bf16 and the TOSA ops that read it: within one dispatch IREE
    would compute both in f32 and round once. Ops that only choose among elements (reshape, clamp, max_pool ...) round nothing, and kernels
    read what is in memory. f16 needs no barrier: IREE rounds every f16 result. Never fails. Example:
    test/Transforms/keep-rounding.mlir.
  }];
  let dependentDialects = ["::mlir::tosa::TosaDialect", "::conquer::UtilDialect"];
}

def StripAnnotations : Pass<"conquer-strip-annotations", "::mlir::ModuleOp"> {
  let summary = "Remove the attributes that only CONQuER reads";
  let description = [{
    Removes every discardable `conquer.*` attribute (of ops, arguments and results) and `tosa.target_env`, which IREE cannot parse.
    Never fails. Example: test/Transforms/strip-annotations.mlir.
  }];
}

def VerifyLowered : Pass<"conquer-verify-lowered", "::mlir::ModuleOp"> {
  let summary = "Check that only what IREE accepts is left";
  let description = [{
    The contract of the lower stage: ops of func, tosa, arith and the opaque IREE dialects only, no i4 and no i48 values (IREE is silently
    wrong on them for some targets). The first offence is an error. Changes nothing. Example:
    test/Transforms/verify-lowered-invalid.mlir.
  }];
}

#endif // CONQUER_OPT_TRANSFORMS_PASSES_TD
