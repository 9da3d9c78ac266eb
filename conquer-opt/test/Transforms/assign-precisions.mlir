// The rule for ops without a policy, one line of docs/precision-of-other-ops.md each.
// RUN: split-file %s %t
// RUN: conquer-opt %t/net.mlir --conquer-assign-precisions="policy=%t/policy.json profile=x86-64 profile-dir=%profiles" | FileCheck %s

//--- policy.json
{"format": "conquer.policy", "version": 1, "layers": {"a": "i8", "b": "i8", "c": "f32", "d": "i8"}}

//--- net.mlir
// CHECK-LABEL: func.func @main
func.func @main(%image: tensor<1x4x4x2xf32> {conquer.id = "image"})
    -> (tensor<1x32xf32> {conquer.id = "y"}, tensor<1x1x1x2xf32> {conquer.id = "z"}) {
  %w = "tosa.const"() <{values = dense<0.5> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.25> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %flat = tosa.const_shape {values = dense<[1, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>

  // The input of the function is f32, so what reads it is.
  // CHECK: tosa.clamp {{.*}}conquer.id = "of_input", conquer.precision = "f32"
  %0 = tosa.clamp %image {conquer.id = "of_input", min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: tosa.conv2d {{.*}}conquer.id = "a", conquer.precision = "i8"
  %1 = tosa.conv2d %0, %w, %bias, %zp, %zp {conquer.id = "a", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  // A clamp that alone reads a layer is part of it.
  // CHECK: tosa.clamp {{.*}}conquer.id = "a_relu", conquer.precision = "i8"
  %2 = tosa.clamp %1 {conquer.id = "a_relu", min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: tosa.conv2d {{.*}}conquer.id = "b", conquer.precision = "i8"
  %3 = tosa.conv2d %2, %w, %bias, %zp, %zp {conquer.id = "b", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  // Integer producers, no layer among the readers: integer; the clamp is part of the addition.
  // CHECK: tosa.add {{.*}}conquer.id = "sum", conquer.precision = "i8"
  // CHECK: tosa.clamp {{.*}}conquer.id = "sum_relu", conquer.precision = "i8"
  %4 = tosa.add %2, %3 {conquer.id = "sum"} : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %5 = tosa.clamp %4 {conquer.id = "sum_relu", min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // A layer in f32 reads it.
  // CHECK: tosa.max_pool2d {{.*}}conquer.id = "pool", conquer.precision = "f32"
  %6 = tosa.max_pool2d %5 {conquer.id = "pool", kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: tosa.conv2d {{.*}}conquer.id = "c", conquer.precision = "f32"
  %7 = tosa.conv2d %6, %w, %bias, %zp, %zp {conquer.id = "c", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  // One producer is f32.
  // CHECK: tosa.add {{.*}}conquer.id = "mixed_sum", conquer.precision = "f32"
  %8 = tosa.add %7, %5 {conquer.id = "mixed_sum"} : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // An i8 layer reads it, but its producer is f32.
  // CHECK: tosa.avg_pool2d {{.*}}conquer.id = "mean", conquer.precision = "f32"
  %9 = tosa.avg_pool2d %8, %zp, %zp {conquer.id = "mean", acc_type = f32, kernel = array<i64: 4, 4>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %10 = tosa.conv2d %9, %w, %bias, %zp, %zp {conquer.id = "d", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  // No integer form: an operand is constant.
  // CHECK: tosa.add {{.*}}conquer.id = "shifted", conquer.precision = "f32"
  %11 = tosa.add %10, %half {conquer.id = "shifted"} : (tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x2xf32>
  // Only moves elements on their way out.
  // CHECK: tosa.reshape {{.*}}conquer.id = "out", conquer.precision = "f32"
  %12 = tosa.reshape %5, %flat {conquer.id = "out"} : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %12, %11 : tensor<1x32xf32>, tensor<1x1x1x2xf32>
}
