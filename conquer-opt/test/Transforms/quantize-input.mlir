// An input that is quantised late, for a layer behind others: its conversion comes after the constants that it shares.
// RUN: split-file %s %t
// RUN: conquer-opt %t/net.mlir --conquer-quantize="calibration=%t/calibration.json profile=x86-64 profile-dir=%profiles" | FileCheck %s

//--- calibration.json
{"format": "conquer.calibration", "version": 1, "method": "minmax", "samples": 1, "ranges": {
  "image": {"min": -1, "max": 1.55, "observed_min": -1, "observed_max": 1.55},
  "a": {"min": 0, "max": 5.1, "observed_min": 0, "observed_max": 5.1},
  "b": {"min": 0, "max": 5.1, "observed_min": 0, "observed_max": 5.1},
  "c": {"min": 0, "max": 5.1, "observed_min": 0, "observed_max": 5.1},
  "y": {"min": 0, "max": 5.1, "observed_min": 0, "observed_max": 5.1}}}

//--- net.mlir
// CHECK: conquer.conversions = {dequantize = 1 : i64, direct = 0 : i64, quantize = 2 : i64
// CHECK: func.func @main(%[[IMAGE:[a-z0-9]+]]:
// CHECK: tosa.mul %[[IMAGE]]
func.func @main(%image: tensor<1x4x4x2xf32> {conquer.id = "image"}) -> (tensor<1x4x4x2xf32> {conquer.id = "out"}) {
  %w = "tosa.const"() <{values = dense<0.1> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.25> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %a = tosa.conv2d %image, %w, %bias, %zp, %zp {conquer.id = "a", conquer.precision = "f32", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %b = tosa.conv2d %a, %w, %bias, %zp, %zp {conquer.id = "b", conquer.precision = "i8", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %c = tosa.conv2d %image, %w, %bias, %zp, %zp {conquer.id = "c", conquer.precision = "i8", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.add %b, %c {conquer.id = "y", conquer.precision = "i8"} : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %y : tensor<1x4x4x2xf32>
}
