// RUN: conquer-opt %s --split-input-file --conquer-canonicalize-clamps | FileCheck %s

// ReLU6 as torch-mlir writes it.
// CHECK-LABEL: @relu6
// CHECK-SAME: %[[X:.*]]: tensor<1x2xf32>
func.func @relu6(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  // CHECK: %[[Y:.*]] = tosa.clamp %[[X]] {max_val = 6.000000e+00 : f32, min_val = 0.000000e+00 : f32}
  // CHECK-NEXT: return %[[Y]]
  %zero = "tosa.const"() {values = dense<0.0> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
  %six = "tosa.const"() {values = dense<6.0> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
  %0 = tosa.maximum %zero, %x : (tensor<1x1xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  %1 = tosa.minimum %0, %six : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}

// -----

// Ranges that do not overlap leave one number.
// CHECK-LABEL: @disjoint
func.func @disjoint(%x: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>) {
  // CHECK: tosa.clamp %{{.*}} {max_val = 5.000000e+00 : f32, min_val = 5.000000e+00 : f32}
  // CHECK: tosa.clamp %{{.*}} {max_val = -1.000000e+00 : f32, min_val = -1.000000e+00 : f32}
  %0 = tosa.clamp %x {min_val = 0.0 : f32, max_val = 1.0 : f32} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %1 = tosa.clamp %0 {min_val = 5.0 : f32, max_val = 6.0 : f32} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %2 = tosa.clamp %x {min_val = 0.0 : f32, max_val = 1.0 : f32} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %3 = tosa.clamp %2 {min_val = -3.0 : f32, max_val = -1.0 : f32} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %1, %3 : tensor<1x2xf32>, tensor<1x2xf32>
}

// -----

// No clamps: two activations, a constant per channel, one that widens, infinity.
// CHECK-LABEL: @stays
func.func @stays(%x: tensor<1x2xf32>, %y: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>, tensor<3x2xf32>, tensor<1x2xf32>) {
  // CHECK: tosa.maximum
  // CHECK: tosa.maximum
  // CHECK: tosa.maximum
  // CHECK: tosa.minimum
  // CHECK-NOT: tosa.clamp
  %c = "tosa.const"() {values = dense<[[0.0, 1.0]]> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
  %w = "tosa.const"() {values = dense<0.0> : tensor<3x2xf32>} : () -> tensor<3x2xf32>
  %i = "tosa.const"() {values = dense<0x7F800000> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
  %0 = tosa.maximum %x, %y : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  %1 = tosa.maximum %x, %c : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  %2 = tosa.maximum %x, %w : (tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %3 = tosa.minimum %x, %i : (tensor<1x2xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
  return %0, %1, %2, %3 : tensor<1x2xf32>, tensor<1x2xf32>, tensor<3x2xf32>, tensor<1x2xf32>
}

// -----

// convolution, max_pool, ReLU: the ReLU moves to the convolution; not if the pool's input has another reader.
// CHECK-LABEL: @to_layer
func.func @to_layer(%x: tensor<1x2x2x1xf32>) -> (tensor<1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x2x2x1xf32>) {
  // CHECK: %[[C:.*]] = tosa.conv2d
  // CHECK-NEXT: %[[K:.*]] = tosa.clamp %[[C]] {{.*}} tensor<1x2x2x1xf32>
  // CHECK-NEXT: %[[P:.*]] = tosa.max_pool2d %[[K]]
  // CHECK-NEXT: tosa.reshape %[[P]]
  // CHECK: tosa.conv2d
  // CHECK-NEXT: tosa.max_pool2d
  // CHECK-NEXT: tosa.clamp
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %w = "tosa.const"() {values = dense<2.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %s = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.conv2d %x, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %1 = tosa.max_pool2d %0 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>} : (tensor<1x2x2x1xf32>) -> tensor<1x1x1x1xf32>
  %2 = tosa.reshape %1, %s : (tensor<1x1x1x1xf32>, !tosa.shape<2>) -> tensor<1x1xf32>
  %3 = tosa.clamp %2 {min_val = 0.0 : f32, max_val = 1.0 : f32} : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %4 = tosa.conv2d %x, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %5 = tosa.max_pool2d %4 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>} : (tensor<1x2x2x1xf32>) -> tensor<1x1x1x1xf32>
  %6 = tosa.clamp %5 {min_val = 0.0 : f32, max_val = 1.0 : f32} : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %3, %6, %4 : tensor<1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x2x2x1xf32>
}
