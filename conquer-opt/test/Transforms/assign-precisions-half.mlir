// The rule for ops without a policy among layers of bf16, f16 and w4a8.
// RUN: split-file %s %t
// RUN: sed -e 's/"bf16": "kernel"/"bf16": "kernel", "f16": "iree"/' %profiles/x86-64.json > %t/profile.json
// RUN: conquer-opt %t/net.mlir --conquer-assign-precisions="policy=%t/policy.json profile=%t/profile.json" | FileCheck %s

//--- policy.json
{"format": "conquer.policy", "version": 1, "layers": {"a": "bf16", "b": "bf16", "c": "w4a8", "d": "i8", "e": "f16"}}

//--- net.mlir
func.func @main(%image: tensor<1x4x4x2xf32> {conquer.id = "image"}) -> (tensor<1x4x4x2xf32> {conquer.id = "y"}) {
  %w = "tosa.const"() <{values = dense<0.5> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.25> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  // CHECK: tosa.conv2d {{.*}}conquer.id = "a", conquer.precision = "bf16"
  %0 = tosa.conv2d %image, %w, %bias, %zp, %zp {conquer.id = "a", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  // Constants may be operands in bf16, unlike in i8.
  // CHECK: tosa.add {{.*}}conquer.id = "shifted", conquer.precision = "bf16"
  %1 = tosa.add %0, %half {conquer.id = "shifted"} : (tensor<1x4x4x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: tosa.conv2d {{.*}}conquer.id = "b", conquer.precision = "bf16"
  %2 = tosa.conv2d %1, %w, %bias, %zp, %zp {conquer.id = "b", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  // No half form.
  // CHECK: tosa.sigmoid {{.*}}conquer.id = "gate", conquer.precision = "f32"
  %3 = tosa.sigmoid %2 {conquer.id = "gate"} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: tosa.conv2d {{.*}}conquer.id = "c", conquer.precision = "w4a8"
  %4 = tosa.conv2d %3, %w, %bias, %zp, %zp {conquer.id = "c", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  // w4a8 and i8 have the same form.
  // CHECK: tosa.conv2d {{.*}}conquer.id = "d", conquer.precision = "i8"
  // CHECK: tosa.add {{.*}}conquer.id = "sum", conquer.precision = "i8"
  %5 = tosa.conv2d %4, %w, %bias, %zp, %zp {conquer.id = "d", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %6 = tosa.add %4, %5 {conquer.id = "sum"} : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // Two forms meet: f32.
  // CHECK: tosa.add {{.*}}conquer.id = "mixed", conquer.precision = "f32"
  %7 = tosa.add %6, %2 {conquer.id = "mixed"} : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // A layer of another form reads it.
  // CHECK: tosa.clamp {{.*}}conquer.id = "clamped", conquer.precision = "f32"
  %8 = tosa.clamp %2 {conquer.id = "clamped", min_val = 0.0 : f32, max_val = 1.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: tosa.conv2d {{.*}}conquer.id = "e", conquer.precision = "f16"
  %9 = tosa.conv2d %8, %w, %bias, %zp, %zp {conquer.id = "e", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %10 = tosa.add %7, %9 {conquer.id = "last"} : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %10 : tensor<1x4x4x2xf32>
}
