// RUN: conquer-opt %s --split-input-file --conquer-fold-scales --canonicalize | FileCheck %s

// A batch norm as torch-mlir writes it: (x - mean) * factor * gamma + beta. With weights 1 and 2 and biases 1 and 0:
// scales 2*3 = 6 and -1*4 = -4; biases (1-1)*6+5 = 5 and (0-2)*-4+6 = 14.
// CHECK-LABEL: @batch_norm
// CHECK-SAME: %[[X:.*]]: tensor<1x2x2x1xf32>
func.func @batch_norm(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x2xf32> {
  // CHECK-DAG: %[[B:.*]] = "tosa.const"() <{values = dense<[5.000000e+00, 1.400000e+01]> : tensor<2xf32>}>
  // CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}6.000000e+00]]], {{\[\[\[}}-8.000000e+00]]]]> : tensor<2x1x1x1xf32>}>
  // CHECK: %[[Y:.*]] = tosa.conv2d %[[X]], %[[W]], %[[B]],
  // CHECK-NEXT: return %[[Y]]
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %s = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %w = "tosa.const"() {values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>} : () -> tensor<2x1x1x1xf32>
  %b = "tosa.const"() {values = dense<[1.0, 0.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %mean = "tosa.const"() {values = dense<[[[[1.0, 2.0]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %factor = "tosa.const"() {values = dense<[[[[2.0, -1.0]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %gamma = "tosa.const"() {values = dense<[[[[3.0, 4.0]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %beta = "tosa.const"() {values = dense<[[[[5.0, 6.0]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %1 = tosa.sub %0, %mean : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %2 = tosa.mul %1, %factor, %s : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %3 = tosa.mul %gamma, %2, %s : (tensor<1x1x1x2xf32>, tensor<1x2x2x2xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %4 = tosa.add %beta, %3 : (tensor<1x1x1x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %4 : tensor<1x2x2x2xf32>
}

// -----

// Depthwise weights are [KH, KW, C, M]: the output channel is c * M + m. 1 - x turns the sign of the weights.
// CHECK-LABEL: @depthwise
func.func @depthwise(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x4xf32> {
  // CHECK-DAG: "tosa.const"() <{values = dense<{{\[\[\[\[}}-1.000000e+00, -2.000000e+01], [-3.000000e+02, -4.000000e+03]]]]> : tensor<1x1x2x2xf32>}>
  // CHECK-DAG: "tosa.const"() <{values = dense<[0.000000e+00, -9.000000e+00, -9.900000e+01, -9.990000e+02]> : tensor<4xf32>}>
  // CHECK: tosa.depthwise_conv2d
  // CHECK-NEXT: return
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %s = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %w = "tosa.const"() {values = dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>} : () -> tensor<1x1x2x2xf32>
  %b = "tosa.const"() {values = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %scale = "tosa.const"() {values = dense<[[[[1.0, 10.0, 100.0, 1000.0]]]]> : tensor<1x1x1x4xf32>} : () -> tensor<1x1x1x4xf32>
  %one = "tosa.const"() {values = dense<1.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %0 = tosa.depthwise_conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x2x2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x4xf32>
  %1 = tosa.mul %0, %scale, %s : (tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>, tensor<1xi8>) -> tensor<1x1x1x4xf32>
  %2 = tosa.sub %one, %1 : (tensor<1x1x1x1xf32>, tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
  return %2 : tensor<1x1x1x4xf32>
}

// -----

// The bias of a fully connected layer stands behind a reshape.
// CHECK-LABEL: @through_reshape
func.func @through_reshape(%x: tensor<1x1x1x1xf32>) -> tensor<1x2xf32> {
  // CHECK-DAG: "tosa.const"() <{values = dense<[3.000000e+00, 4.000000e+00]> : tensor<2xf32>}>
  // CHECK: tosa.conv2d
  // CHECK-NEXT: %[[Y:.*]] = tosa.reshape
  // CHECK-NEXT: return %[[Y]]
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %w = "tosa.const"() {values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>} : () -> tensor<2x1x1x1xf32>
  %b = "tosa.const"() {values = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %bias = "tosa.const"() {values = dense<[[3.0, 4.0]]> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
  %shape = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %1 = tosa.reshape %0, %shape : (tensor<1x1x1x2xf32>, !tosa.shape<2>) -> tensor<1x2xf32>
  %2 = tosa.add %1, %bias : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}

// -----

// Input normalisation (x * s + t). Without padding both fold: weights 2*10 and 3*100, bias 1 + 2*5 + 3*6 = 29.
// CHECK-LABEL: @before
// CHECK-SAME: %[[X:.*]]: tensor<1x1x1x2xf32>
func.func @before(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  // CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}2.000000e+01, 3.000000e+02]]]]> : tensor<1x1x1x2xf32>}>
  // CHECK-DAG: %[[B:.*]] = "tosa.const"() <{values = dense<2.900000e+01> : tensor<1xf32>}>
  // CHECK: tosa.conv2d %[[X]], %[[W]], %[[B]]
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %s = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %w = "tosa.const"() {values = dense<[[[[2.0, 3.0]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %b = "tosa.const"() {values = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %scale = "tosa.const"() {values = dense<[[[[10.0, 100.0]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %shift = "tosa.const"() {values = dense<[[[[5.0, 6.0]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %0 = tosa.mul %x, %scale, %s : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x1x1x2xf32>
  %1 = tosa.add %0, %shift : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %2 = tosa.conv2d %1, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %2 : tensor<1x1x1x1xf32>
}

// -----

// With padding a shift stays, and what is before it; a scale alone folds.
// CHECK-LABEL: @before_padding
func.func @before_padding(%x: tensor<1x1x1x1xf32>) -> (tensor<1x3x3x1xf32>, tensor<1x3x3x1xf32>) {
  // CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<2.000000e+01> : tensor<1x1x1x1xf32>}>
  // CHECK: %[[S:.*]] = tosa.add %arg0
  // CHECK: tosa.conv2d %[[S]], {{.*}} pad = array<i64: 1, 1, 1, 1>
  // CHECK: tosa.conv2d %arg0, %[[W]], {{.*}} pad = array<i64: 1, 1, 1, 1>
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %s = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %w = "tosa.const"() {values = dense<2.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() {values = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %c = "tosa.const"() {values = dense<10.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %0 = tosa.add %x, %c : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %1 = tosa.conv2d %0, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x1xf32>
  %2 = tosa.mul %x, %c, %s : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1x1xf32>
  %3 = tosa.conv2d %2, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x1xf32>
  return %1, %3 : tensor<1x3x3x1xf32>, tensor<1x3x3x1xf32>
}

// -----

// What stays: a second reader, a constant per pixel, a product that is not finite.
// CHECK-LABEL: @stays
func.func @stays(%x: tensor<1x1x2x1xf32>) -> (tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>) {
  // CHECK: tosa.add
  // CHECK: tosa.mul
  // CHECK: tosa.mul
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %s = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %w = "tosa.const"() {values = dense<2.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() {values = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %c = "tosa.const"() {values = dense<10.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %p = "tosa.const"() {values = dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf32>} : () -> tensor<1x1x2x1xf32>
  %h = "tosa.const"() {values = dense<3.0e+38> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2x1xf32>
  %1 = tosa.add %0, %c : (tensor<1x1x2x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x1xf32>
  %2 = tosa.conv2d %1, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2x1xf32>
  %3 = tosa.mul %2, %p, %s : (tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>, tensor<1xi8>) -> tensor<1x1x2x1xf32>
  %4 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2x1xf32>
  %5 = tosa.mul %4, %h, %s : (tensor<1x1x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2x1xf32>
  return %0, %1, %3, %5 : tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>
}

// -----

// A batch norm without a convolution beside it: (x - 1) * 2 * 3 + 4 -> x * 6 - 2.
// CHECK-LABEL: @chain
func.func @chain(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  // CHECK-DAG: %[[SCALE:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}6.000000e+00, 1.200000e+01]]]]> : tensor<1x1x1x2xf32>}>
  // CHECK-DAG: %[[SHIFT:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}-2.000000e+00, -8.000000e+00]]]]> : tensor<1x1x1x2xf32>}>
  // CHECK: %[[M:.*]] = tosa.mul %arg0, %[[SCALE]]
  // CHECK-NEXT: %[[A:.*]] = tosa.add %[[M]], %[[SHIFT]]
  // CHECK-NEXT: return %[[A]]
  %s = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %one = "tosa.const"() {values = dense<1.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %two = "tosa.const"() {values = dense<[[[[2.0, 4.0]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %three = "tosa.const"() {values = dense<3.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %four = "tosa.const"() {values = dense<4.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %0 = tosa.sub %x, %one : (tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x2xf32>
  %1 = tosa.mul %0, %two, %s : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x1x1x2xf32>
  %2 = tosa.mul %three, %1, %s : (tensor<1x1x1x1xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x1x1x2xf32>
  %3 = tosa.add %2, %four : (tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x2xf32>
  return %3 : tensor<1x1x1x2xf32>
}

// -----

// The division of a mean, before the reshape of its fully connected layer.
// CHECK-LABEL: @mean
func.func @mean(%x: tensor<1x2xf32>) -> tensor<1x1x1x1xf32> {
  // CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}1.000000e+00, 2.000000e+00]]]]> : tensor<1x1x1x2xf32>}>
  // CHECK: %[[R:.*]] = tosa.reshape %arg0
  // CHECK-NEXT: tosa.conv2d %[[R]], %[[W]]
  %s = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %half = "tosa.const"() {values = dense<0.5> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
  %w = "tosa.const"() {values = dense<[[[[2.0, 4.0]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 1, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.mul %x, %half, %s : (tensor<1x2xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x2xf32>
  %1 = tosa.reshape %0, %shape : (tensor<1x2xf32>, !tosa.shape<4>) -> tensor<1x1x1x2xf32>
  %2 = tosa.conv2d %1, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %2 : tensor<1x1x1x1xf32>
}
