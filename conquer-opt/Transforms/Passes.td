//===- Passes.td - every pass of the compiler ---------------------------*- tablegen -*-===//
//
// One section per stage (docs/DESIGN: import, prepare, quantize, fuse, lower). The description of a pass says what it
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
    tensors and whose activations are ranked and static. Models that are already quantised are refused by name.
    Test: Transforms/check-input.mlir.
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
    argument and result has a unique conquer.id, and convolutions have constant f32 weights and biases.
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

//===----------------------------------------------------------------------------------===//
// Fuse
//===----------------------------------------------------------------------------------===//

//===----------------------------------------------------------------------------------===//
// Lower
//===----------------------------------------------------------------------------------===//

#endif // CONQUER_OPT_TRANSFORMS_PASSES_TD
