// RUN: split-file %s %t
// RUN: not conquer-opt %t/range.mlir --conquer-quantize="calibration=%t/calibration.json profile=x86-64 profile-dir=%profiles" 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not conquer-opt %t/range.mlir --conquer-quantize="calibration=%t/infinite.json profile=x86-64 profile-dir=%profiles" 2>&1 | FileCheck %s --check-prefix=INFINITE
// RUN: not conquer-opt %t/weight.mlir --conquer-quantize="calibration=%t/calibration.json profile=x86-64 profile-dir=%profiles" 2>&1 | FileCheck %s --check-prefix=WEIGHT
// RUN: not conquer-opt %t/id.mlir --conquer-quantize="calibration=%t/calibration.json profile=x86-64 profile-dir=%profiles" 2>&1 | FileCheck %s --check-prefix=ID
// RUN: not conquer-opt %t/id.mlir --conquer-quantize="calibration=%t/none.json profile=x86-64 profile-dir=%profiles" 2>&1 | FileCheck %s --check-prefix=NONE

// RANGE: range.mlir:2:{{.*}} error: {{.*}}calibration.json: ranges: no range for 'pool'
// INFINITE: error: {{.*}}infinite.json: ranges.image: range is [-1.0, 1e+39]; expected finite f32 values with min <= 0 <= max
// WEIGHT: weight.mlir:5:{{.*}} error: 'conv': a weight of output channel 1 is not finite
// ID: id.mlir:1:{{.*}} error: activation without a conquer.id
// NONE: error: {{.*}}none.json: cannot open file

//--- calibration.json
{"format": "conquer.calibration", "version": 1, "method": "minmax", "samples": 1, "ranges": {"image": {"min": -1, "max": 1, "observed_min": -1, "observed_max": 1}}}
//--- infinite.json
{"format": "conquer.calibration", "version": 1, "method": "minmax", "samples": 1, "ranges": {"image": {"min": -1, "max": 1e39, "observed_min": -1, "observed_max": 1}}}

//--- range.mlir
func.func @main(%image: tensor<1x4x4x2xf32> {conquer.id = "image"}) -> (tensor<1x4x4x2xf32> {conquer.id = "y"}) {
  %0 = tosa.max_pool2d %image {conquer.id = "pool", conquer.precision = "f32", kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.transpose %0 {conquer.id = "turn", conquer.precision = "i8", perms = array<i32: 0, 2, 1, 3>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %1 : tensor<1x4x4x2xf32>
}

//--- weight.mlir
func.func @main(%image: tensor<1x4x4x1xf32> {conquer.id = "image"}) -> (tensor<1x4x4x2xf32> {conquer.id = "y"}) {
  %w = "tosa.const"() <{values = dense<[[[[0.5]]], [[[0x7FC00000]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %image, %w, %b, %zp, %zp {conquer.id = "conv", conquer.precision = "i8", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}

//--- id.mlir
func.func @main(%image: tensor<1x4x4x2xf32>) -> (tensor<1x4x4x2xf32> {conquer.id = "y"}) {
  %1 = tosa.transpose %image {conquer.id = "turn", conquer.precision = "i8", perms = array<i32: 0, 2, 1, 3>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %1 : tensor<1x4x4x2xf32>
}
