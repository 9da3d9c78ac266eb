// RUN: conquer-opt %s --split-input-file --conquer-matmul-to-conv | FileCheck %s

// CHECK-LABEL: @fully_connected
// CHECK-SAME: %[[X:.*]]: tensor<1x2x3xf32>
func.func @fully_connected(%x: tensor<1x2x3xf32>) -> tensor<1x2x2xf32> {
  // CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}1.000000e+00, 3.000000e+00, 5.000000e+00]]], {{\[\[\[}}2.000000e+00, 4.000000e+00, 6.000000e+00]]]]> : tensor<2x1x1x3xf32>}>
  // CHECK-DAG: %[[B:.*]] = "tosa.const"() <{values = dense<0.000000e+00> : tensor<2xf32>}>
  // CHECK: %[[R:.*]] = tosa.reshape %[[X]], %{{.*}} -> tensor<1x1x2x3xf32>
  // CHECK: %[[C:.*]] = tosa.conv2d %[[R]], %[[W]], %[[B]], {{.*}} -> tensor<1x1x2x2xf32>
  // CHECK: %[[Y:.*]] = tosa.reshape %[[C]], {{.*}} -> tensor<1x2x2xf32>
  // CHECK: return %[[Y]]
  %w = "tosa.const"() {values = dense<[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]> : tensor<1x3x2xf32>} : () -> tensor<1x3x2xf32>
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %w, %z, %z : (tensor<1x2x3xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  return %0 : tensor<1x2x2xf32>
}

// -----

// One matrix for the whole batch: its rows are one line of pixels.
// CHECK-LABEL: @batch
func.func @batch(%x: tensor<2x2x1xf32>) -> tensor<2x2x2xf32> {
  // CHECK: tosa.reshape {{.*}} -> tensor<1x1x4x1xf32>
  // CHECK: tosa.conv2d {{.*}} -> tensor<1x1x4x2xf32>
  // CHECK: tosa.reshape {{.*}} -> tensor<2x2x2xf32>
  %w = "tosa.const"() {values = dense<[[[1.0, 2.0]], [[1.0, 2.0]]]> : tensor<2x1x2xf32>} : () -> tensor<2x1x2xf32>
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %w, %z, %z : (tensor<2x2x1xf32>, tensor<2x1x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x2x2xf32>
  return %0 : tensor<2x2x2xf32>
}

// -----

// CHECK-LABEL: @matrices_differ
func.func @matrices_differ(%x: tensor<2x2x1xf32>) -> tensor<2x2x2xf32> {
  // CHECK: tosa.matmul
  %w = "tosa.const"() {values = dense<[[[1.0, 2.0]], [[1.0, 3.0]]]> : tensor<2x1x2xf32>} : () -> tensor<2x1x2xf32>
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %w, %z, %z : (tensor<2x2x1xf32>, tensor<2x1x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x2x2xf32>
  return %0 : tensor<2x2x2xf32>
}

// -----

// CHECK-LABEL: @attention
func.func @attention(%x: tensor<1x2x2xf32>) -> tensor<1x2x2xf32> {
  // CHECK: tosa.matmul
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %x, %z, %z : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  return %0 : tensor<1x2x2xf32>
}
