// bf16, f16 and w4a8 beside i8 and f32: each value is converted once per form, between two of them by way of f32.
// RUN: split-file %s %t
// RUN: conquer-opt %t/net.mlir --conquer-quantize="calibration=%t/calibration.json profile=x86-64 profile-dir=%profiles" | FileCheck %s
// RUN: not conquer-opt %t/large.mlir --conquer-quantize="calibration=%t/calibration.json profile=x86-64 profile-dir=%profiles" 2>&1 | FileCheck %s --check-prefix=LARGE

// LARGE: large.mlir:5:{{.*}} error: 'h': a constant is not finite or leaves the range of 'f16'; expected values that it can hold; run the layer in f32

//--- calibration.json
{"format": "conquer.calibration", "version": 1, "method": "minmax", "samples": 1, "ranges": {
  "image": {"min": -1, "max": 1.55, "observed_min": -1, "observed_max": 1.55},
  "w": {"min": 0, "max": 5.1, "observed_min": 0, "observed_max": 5.1}}}

//--- net.mlir
// CHECK: module attributes {conquer.conversions = {dequantize = 1 : i64, direct = 0 : i64, quantize = 1 : i64, round = 2 : i64, widen = 2 : i64}}
// CHECK: func.func @main(%[[IMAGE:.*]]: tensor<1x4x4x2xf32>
func.func @main(%image: tensor<1x4x4x2xf32> {conquer.id = "image"})
    -> (tensor<1x4x4x2xf32> {conquer.id = "x"}, tensor<1x4x4x2xf32> {conquer.id = "y"}) {
  // 0.1 is not a bf16; the clamp at the largest f32 is none in bf16.
  // CHECK-DAG: %[[WB:.*]] = "tosa.const"() <{values = dense<1.000980e-01> : tensor<2x1x1x2xbf16>}>
  // CHECK-DAG: %[[ZB:.*]] = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xbf16>}>
  // CHECK-DAG: %[[W4:.*]] = "tosa.const"() <{values = dense<7> : tensor<2x1x1x2xi4>}>
  // CHECK-DAG: %[[Z4:.*]] = "tosa.const"() <{values = dense<0> : tensor<1xi4>}>
  %w = "tosa.const"() <{values = dense<0.1> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.25> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>

  // CHECK-DAG: %[[I8:.*]] = tosa.cast {{.*}} -> tensor<1x4x4x2xi8>
  // CHECK-DAG: %[[IB:.*]] = tosa.cast %[[IMAGE]] : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xbf16>
  // CHECK: %[[B0:.*]] = tosa.conv2d %[[IB]], %[[WB]], %{{.*}}, %[[ZB]], %[[ZB]] {acc_type = f32, conquer.id = "b", conquer.layer = "b", conquer.precision = "bf16"
  // CHECK-SAME: -> tensor<1x4x4x2xbf16>
  // CHECK: %[[B1:.*]] = tosa.clamp %[[B0]] {conquer.id = "relu", conquer.precision = "bf16", max_val = 0x7F80 : bf16, min_val = 0.000000e+00 : bf16}
  // CHECK: %[[BF:.*]] = tosa.cast %[[B1]] : (tensor<1x4x4x2xbf16>) -> tensor<1x4x4x2xf32>
  // CHECK: %[[BH:.*]] = tosa.cast %[[BF]] : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf16>
  %0 = tosa.conv2d %image, %w, %bias, %zp, %zp {conquer.id = "b", conquer.precision = "bf16", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {conquer.id = "relu", conquer.precision = "bf16", min_val = 0.0 : f32, max_val = 3.40282347e+38 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>

  // CHECK: tosa.conv2d %[[I8]], %[[W4]], %{{.*}}, %{{.*}}, %[[Z4]] {acc_type = i32, conquer.layer = "w", conquer.precision = "w4a8"
  // CHECK-SAME: (tensor<1x4x4x2xi8>, tensor<2x1x1x2xi4>, tensor<2xi32>, tensor<1xi8>, tensor<1xi4>) -> tensor<1x4x4x2xi32>
  // CHECK: %[[W:.*]] = tosa.cast {{.*}}conquer.id = "w", conquer.precision = "w4a8", conquer.scale = 2.000000e-02 : f32
  // CHECK: tosa.max_pool2d %[[W]] {conquer.id = "pool", conquer.precision = "i8"
  %2 = tosa.conv2d %image, %w, %bias, %zp, %zp {conquer.id = "w", conquer.precision = "w4a8", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %3 = tosa.max_pool2d %2 {conquer.id = "pool", conquer.precision = "i8", kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>

  // CHECK: tosa.conv2d %[[BH]], {{.*}}conquer.id = "h", conquer.layer = "h", conquer.precision = "f16"
  %4 = tosa.conv2d %1, %w, %bias, %zp, %zp {conquer.id = "h", conquer.precision = "f16", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  // CHECK-NOT: tensor<2x1x1x2xf32>
  return %3, %4 : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>
}

//--- large.mlir
func.func @main(%image: tensor<1x1x1x1xf32> {conquer.id = "image"}) -> (tensor<1x1x1x1xf32> {conquer.id = "y"}) {
  %w = "tosa.const"() <{values = dense<70000.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>

  %0 = tosa.conv2d %image, %w, %zp, %zp, %zp {conquer.id = "h", conquer.precision = "f16", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
