// The stage as a whole: its contract holds and the result is legal TOSA 1.0, here with the target attached. A rank-4 pad
// is legal TOSA too, but MLIR's check of level 8k refuses it.
// RUN: split-file %s %t
// RUN: conquer-opt %t/net.mlir --conquer-quantize-pipeline="calibration=%t/calibration.json policy=%t/policy.json profile=x86-64 profile-dir=%profiles" | FileCheck %s
// RUN: conquer-opt %t/pad.mlir --conquer-quantize-pipeline="calibration=%t/calibration.json policy=%t/empty.json profile=x86-64 profile-dir=%profiles" | FileCheck %s --check-prefix=PAD

// CHECK: conquer.conversions = {dequantize = 0 : i64, direct = 1 : i64, quantize = 1 : i64, round = 0 : i64, widen = 0 : i64}
// CHECK-SAME: tosa.target_env = #tosa.target_env<specification_version = "1.0", level = "8k", profiles = [pro_int, pro_fp], extensions = [int4, bf16]>
// CHECK: tosa.conv2d {{.*}}conquer.layer = "c", conquer.precision = "i8"
// PAD: level = none,

//--- calibration.json
{"format": "conquer.calibration", "version": 1, "method": "minmax", "samples": 1, "ranges": {
  "image": {"min": -1, "max": 1, "observed_min": -1, "observed_max": 1}}}
//--- policy.json
{"format": "conquer.policy", "version": 1, "layers": {"c": "i8"}}
//--- empty.json
{"format": "conquer.policy", "version": 1, "layers": {}}

//--- net.mlir
func.func @main(%image: tensor<1x4x4x1xf32> {conquer.id = "image"}) -> (tensor<1x4x4x2xf32> {conquer.id = "y"}) {
  %w = "tosa.const"() <{values = dense<0.5> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %image, %w, %b, %b, %b {conquer.id = "c", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}

//--- pad.mlir
func.func @main(%image: tensor<1x4x4x1xf32> {conquer.id = "image"}) -> (tensor<1x5x5x1xf32> {conquer.id = "y"}) {
  %pads = tosa.const_shape {values = dense<[0, 0, 1, 0, 0, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.pad %image, %pads, %zero {conquer.id = "pad"} : (tensor<1x4x4x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x5x5x1xf32>
  return %0 : tensor<1x5x5x1xf32>
}
