// RUN: conquer-opt %s --conquer-separate-conversions | FileCheck %s

// A convolution reads each element nine times; the addition reads it once and stays as it is.
// CHECK-LABEL: @convolution
// CHECK: %[[F:.*]] = tosa.mul
// CHECK: %[[B:.*]] = "util.optimization_barrier"(%[[F]]) : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
// CHECK: %[[C:.*]] = tosa.conv2d %[[B]],
// CHECK: tosa.add %[[C]], %[[F]]
func.func @convolution(%x: tensor<1x4x4x8xi8>, %w: tensor<8x3x3x8xf32>, %b: tensor<8xf32>) -> tensor<1x4x4x8xf32> {
  %zp = "tosa.const"() {values = dense<3> : tensor<1x1x1x1xi32>} : () -> tensor<1x1x1x1xi32>
  %scale = "tosa.const"() {values = dense<0.5> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = tosa.cast %x : (tensor<1x4x4x8xi8>) -> tensor<1x4x4x8xi32>
  %1 = tosa.sub %0, %zp : (tensor<1x4x4x8xi32>, tensor<1x1x1x1xi32>) -> tensor<1x4x4x8xi32>
  %2 = tosa.cast %1 : (tensor<1x4x4x8xi32>) -> tensor<1x4x4x8xf32>
  %3 = tosa.mul %2, %scale, %shift : (tensor<1x4x4x8xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x4x8xf32>
  %4 = tosa.conv2d %3, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
    : (tensor<1x4x4x8xf32>, tensor<8x3x3x8xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x8xf32>
  %5 = tosa.add %4, %3 : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %5 : tensor<1x4x4x8xf32>
}

// A zero point of 0 leaves no subtraction.
// CHECK-LABEL: @no_zero_point
// CHECK: tosa.mul
// CHECK: %[[B:.*]] = "util.optimization_barrier"
// CHECK: tosa.max_pool2d %[[B]]
func.func @no_zero_point(%x: tensor<1x4x4x8xi8>) -> tensor<1x2x2x8xf32> {
  %scale = "tosa.const"() {values = dense<0.5> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.cast %x : (tensor<1x4x4x8xi8>) -> tensor<1x4x4x8xf32>
  %1 = tosa.mul %0, %scale, %shift : (tensor<1x4x4x8xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x4x8xf32>
  %2 = tosa.max_pool2d %1 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x8xf32>) -> tensor<1x2x2x8xf32>
  return %2 : tensor<1x2x2x8xf32>
}

// Requantisation of an i32 accumulator is no conversion from i8, and has no uneven reader.
// CHECK-LABEL: @requantisation
// CHECK-NOT: util.optimization_barrier
func.func @requantisation(%acc: tensor<1x4x4x8xi32>) -> tensor<1x2x2x8xf32> {
  %scale = "tosa.const"() {values = dense<0.5> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.cast %acc : (tensor<1x4x4x8xi32>) -> tensor<1x4x4x8xf32>
  %1 = tosa.mul %0, %scale, %shift : (tensor<1x4x4x8xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x4x8xf32>
  %2 = tosa.max_pool2d %1 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x8xf32>) -> tensor<1x2x2x8xf32>
  return %2 : tensor<1x2x2x8xf32>
}

// bf16 to f32, as i8 to f32.
// CHECK-LABEL: @from_bf16
// CHECK: %[[F:.*]] = tosa.cast
// CHECK: %[[B:.*]] = "util.optimization_barrier"(%[[F]])
// CHECK: tosa.max_pool2d %[[B]]
func.func @from_bf16(%x: tensor<1x4x4x8xbf16>) -> tensor<1x2x2x8xf32> {
  %0 = tosa.cast %x : (tensor<1x4x4x8xbf16>) -> tensor<1x4x4x8xf32>
  %1 = tosa.max_pool2d %0 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x8xf32>) -> tensor<1x2x2x8xf32>
  return %1 : tensor<1x2x2x8xf32>
}
