// RUN: conquer-opt %s --split-input-file --conquer-fold-constants --canonicalize | FileCheck %s

// Weights of a depthwise convolution as torch-mlir leaves them: a transpose of a constant.
// CHECK-LABEL: @transpose
func.func @transpose() -> tensor<3x1x2xf32> {
  // CHECK: %[[C:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}1.000000e+00, 4.000000e+00]], {{\[\[}}2.000000e+00, 5.000000e+00]], {{\[\[}}3.000000e+00, 6.000000e+00]]]> : tensor<3x1x2xf32>}>
  // CHECK-NEXT: return %[[C]]
  %0 = "tosa.const"() {values = dense<[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]]> : tensor<2x3x1xf32>} : () -> tensor<2x3x1xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 1, 2, 0>} : (tensor<2x3x1xf32>) -> tensor<3x1x2xf32>
  return %1 : tensor<3x1x2xf32>
}

// -----

// Elements of any type are moved.
// CHECK-LABEL: @moves
func.func @moves() -> (tensor<2x2xi8>, tensor<2x2xi32>, tensor<2x3xi64>) {
  // CHECK-DAG: %[[A:.*]] = "tosa.const"() <{values = dense<{{\[\[}}2, 3], [5, 6]]> : tensor<2x2xi8>}>
  // CHECK-DAG: %[[B:.*]] = "tosa.const"() <{values = dense<{{\[\[}}3, 4], [1, 2]]> : tensor<2x2xi32>}>
  // CHECK-DAG: %[[C:.*]] = "tosa.const"() <{values = dense<{{\[\[}}7, 1, 2], [7, 3, 4]]> : tensor<2x3xi64>}>
  // CHECK: return %[[A]], %[[B]], %[[C]]
  %0 = "tosa.const"() {values = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>} : () -> tensor<2x3xi8>
  %start = tosa.const_shape {values = dense<[0, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[2, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %1 = tosa.slice %0, %start, %size : (tensor<2x3xi8>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x2xi8>
  %2 = "tosa.const"() {values = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %3 = tosa.reverse %2 {axis = 0 : i32} : (tensor<2x2xi32>) -> tensor<2x2xi32>
  %4 = "tosa.const"() {values = dense<7> : tensor<2x1xi64>} : () -> tensor<2x1xi64>
  %5 = "tosa.const"() {values = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>} : () -> tensor<2x2xi64>
  %6 = tosa.concat %4, %5 {axis = 1 : i32} : (tensor<2x1xi64>, tensor<2x2xi64>) -> tensor<2x3xi64>
  return %1, %3, %6 : tensor<2x2xi8>, tensor<2x2xi32>, tensor<2x3xi64>
}

// -----

// A batch norm's scale: gamma / sqrt(variance + epsilon), with broadcasting.
// CHECK-LABEL: @arithmetic
func.func @arithmetic() -> tensor<1x2xf32> {
  // CHECK: %[[C:.*]] = "tosa.const"() <{values = dense<{{\[\[}}1.500000e+00, -5.000000e-01]]> : tensor<1x2xf32>}>
  // CHECK-NEXT: return %[[C]]
  %var = "tosa.const"() {values = dense<[[3.0, 15.0]]> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
  %eps = "tosa.const"() {values = dense<1.0> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
  %gamma = "tosa.const"() {values = dense<[[3.0, -2.0]]> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.add %var, %eps : (tensor<1x2xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
  %1 = tosa.rsqrt %0 : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %2 = tosa.mul %1, %gamma, %shift : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1xi8>) -> tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}

// -----

// torch-mlir writes large constants as resources.
// CHECK-LABEL: @resource
func.func @resource() -> tensor<2xf32> {
  // CHECK: "tosa.const"() <{values = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>}>
  %0 = "tosa.const"() {values = dense_resource<weights> : tensor<2xf32>} : () -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

{-# dialect_resources: { builtin: { weights: "0x040000000000803F00000040" } } #-}

// -----

// A repetition that would make the file larger stays an op.
// CHECK-LABEL: @large
func.func @large() -> (tensor<4x2xf32>, tensor<1024x1024xf32>) {
  // CHECK-DAG: "tosa.const"() <{values = dense<{{\[\[}}1.000000e+00, 2.000000e+00], [1.000000e+00, 2.000000e+00], [1.000000e+00, 2.000000e+00], [1.000000e+00, 2.000000e+00]]>
  // CHECK: tosa.tile
  %0 = "tosa.const"() {values = dense<[[1.0, 2.0]]> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
  %1 = "tosa.const"() {values = dense<[[1.0], [2.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %s = tosa.const_shape {values = dense<[4, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %t = tosa.const_shape {values = dense<[512, 1024]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %2 = tosa.tile %0, %s : (tensor<1x2xf32>, !tosa.shape<2>) -> tensor<4x2xf32>
  %3 = tosa.tile %1, %t : (tensor<2x1xf32>, !tosa.shape<2>) -> tensor<1024x1024xf32>
  return %2, %3 : tensor<4x2xf32>, tensor<1024x1024xf32>
}
