// RUN: conquer-opt %s --split-input-file --conquer-fold-pads | FileCheck %s

// One pad, two readers, one of which pads itself.
// CHECK-LABEL: @convolutions
// CHECK-SAME: %[[X:.*]]: tensor<1x4x4x1xf32>
func.func @convolutions(%x: tensor<1x4x4x1xf32>) -> (tensor<1x7x10x1xf32>, tensor<1x9x12x1xf32>) {
  // CHECK-NOT: tosa.pad
  // CHECK: tosa.conv2d %[[X]], {{.*}} pad = array<i64: 1, 2, 3, 3>
  // CHECK: tosa.depthwise_conv2d %[[X]], {{.*}} pad = array<i64: 2, 3, 4, 4>
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %w = "tosa.const"() {values = dense<2.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %p = tosa.const_shape {values = dense<[0, 0, 1, 2, 3, 3, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %0 = tosa.pad %x, %p, %z : (tensor<1x4x4x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x7x10x1xf32>
  %1 = tosa.conv2d %0, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x7x10x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x7x10x1xf32>
  %2 = tosa.depthwise_conv2d %0, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x7x10x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x9x12x1xf32>
  return %1, %2 : tensor<1x7x10x1xf32>, tensor<1x9x12x1xf32>
}

// -----

// "same" padding of an odd size: a slice takes away the row that stride 2 does not reach.
// CHECK-LABEL: @slice
func.func @slice(%x: tensor<1x4x4x1xf32>) -> (tensor<1x3x3x1xf32>, tensor<1x5x5x1xf32>) {
  // CHECK-DAG: %[[LESS:.*]] = tosa.const_shape {values = dense<[0, 0, 1, 0, 0, 1, 0, 0]>
  // CHECK: tosa.conv2d %arg0, {{.*}} pad = array<i64: 1, 0, 1, 0>
  // CHECK: tosa.pad %arg0, %[[LESS]]
  // CHECK-NOT: tosa.slice
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %w = "tosa.const"() {values = dense<2.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %p = tosa.const_shape {values = dense<[0, 0, 1, 1, 1, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %start = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %other = tosa.const_shape {values = dense<[0, 0, 1, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 5, 5, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.pad %x, %p, %z : (tensor<1x4x4x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x6x6x1xf32>
  %1 = tosa.slice %0, %start, %size : (tensor<1x6x6x1xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x5x5x1xf32>
  %2 = tosa.conv2d %1, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x5x5x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x1xf32>
  %3 = tosa.slice %0, %other, %size : (tensor<1x6x6x1xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x5x5x1xf32>
  return %2, %3 : tensor<1x3x3x1xf32>, tensor<1x5x5x1xf32>
}

// -----

// max_pool ignores its padding: right for the lowest number, and for zero behind a ReLU.
// CHECK-LABEL: @max_pool
func.func @max_pool(%x: tensor<1x4x4x1xf32>) -> (tensor<1x3x3x1xf32>, tensor<1x3x3x1xf32>) {
  // CHECK-NOT: tosa.pad
  // CHECK: tosa.max_pool2d %arg0 {kernel = array<i64: 2, 2>, pad = array<i64: 1, 1, 1, 1>
  // CHECK: tosa.max_pool2d {{.*}} pad = array<i64: 1, 1, 1, 1>
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %m = "tosa.const"() {values = dense<0xFF7FFFFF> : tensor<1xf32>} : () -> tensor<1xf32>
  %p = tosa.const_shape {values = dense<[0, 0, 1, 1, 1, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %0 = tosa.pad %x, %p, %m : (tensor<1x4x4x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x6x6x1xf32>
  %1 = tosa.max_pool2d %0 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x6x6x1xf32>) -> tensor<1x3x3x1xf32>
  %2 = tosa.clamp %x {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %3 = tosa.pad %2, %p, %z : (tensor<1x4x4x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x6x6x1xf32>
  %4 = tosa.max_pool2d %3 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x6x6x1xf32>) -> tensor<1x3x3x1xf32>
  return %1, %4 : tensor<1x3x3x1xf32>, tensor<1x3x3x1xf32>
}

// -----

// What stays: avg_pool; zero before a maximum of any sign; another number; channels; padding as large as the kernel.
// CHECK-LABEL: @stays
func.func @stays(%x: tensor<1x4x4x1xf32>) -> (tensor<1x3x3x1xf32>, tensor<1x3x3x1xf32>, tensor<1x6x6x1xf32>, tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) {
  // CHECK: tosa.pad
  // CHECK: tosa.avg_pool2d {{.*}} pad = array<i64: 0, 0, 0, 0>
  // CHECK: tosa.max_pool2d {{.*}} pad = array<i64: 0, 0, 0, 0>
  // CHECK: tosa.pad
  // CHECK: tosa.conv2d {{.*}} pad = array<i64: 0, 0, 0, 0>
  // CHECK: tosa.pad
  // CHECK: tosa.conv2d {{.*}} pad = array<i64: 0, 0, 0, 0>
  // CHECK: tosa.pad
  // CHECK: tosa.max_pool2d {{.*}} pad = array<i64: 0, 0, 0, 0>
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %one = "tosa.const"() {values = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %m = "tosa.const"() {values = dense<0xFF7FFFFF> : tensor<1xf32>} : () -> tensor<1xf32>
  %w = "tosa.const"() {values = dense<2.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %w2 = "tosa.const"() {values = dense<2.0> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %p = tosa.const_shape {values = dense<[0, 0, 1, 1, 1, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %c = tosa.const_shape {values = dense<[0, 0, 0, 0, 0, 0, 0, 1]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %l = tosa.const_shape {values = dense<[0, 0, 2, 2, 2, 2, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %0 = tosa.pad %x, %p, %z : (tensor<1x4x4x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x6x6x1xf32>
  %1 = tosa.avg_pool2d %0, %z, %z {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x6x6x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x1xf32>
  %2 = tosa.max_pool2d %0 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x6x6x1xf32>) -> tensor<1x3x3x1xf32>
  %3 = tosa.pad %x, %p, %one : (tensor<1x4x4x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x6x6x1xf32>
  %4 = tosa.conv2d %3, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x6x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x1xf32>
  %5 = tosa.pad %x, %c, %z : (tensor<1x4x4x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %6 = tosa.conv2d %5, %w2, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %7 = tosa.pad %x, %l, %m : (tensor<1x4x4x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x8x8x1xf32>
  %8 = tosa.max_pool2d %7 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x8x8x1xf32>) -> tensor<1x4x4x1xf32>
  return %1, %2, %4, %6, %8 : tensor<1x3x3x1xf32>, tensor<1x3x3x1xf32>, tensor<1x6x6x1xf32>, tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>
}

// -----

// Crops of one dimension each, as torch-mlir writes them.
// CHECK-LABEL: @slices
func.func @slices(%x: tensor<1x4x4x1xf32>) -> tensor<1x2x3x1xf32> {
  // CHECK-DAG: %[[START:.*]] = tosa.const_shape {values = dense<[0, 2, 1, 0]>
  // CHECK-DAG: %[[SIZE:.*]] = tosa.const_shape {values = dense<[1, 2, 3, 1]>
  // CHECK: %[[S:.*]] = tosa.slice %arg0, %[[START]], %[[SIZE]]
  // CHECK-NEXT: return %[[S]]
  %s0 = tosa.const_shape {values = dense<[0, 1, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %n0 = tosa.const_shape {values = dense<[1, 3, 4, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %s1 = tosa.const_shape {values = dense<[0, 1, 1, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %n1 = tosa.const_shape {values = dense<[1, 2, 3, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.slice %x, %s0, %n0 : (tensor<1x4x4x1xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x3x4x1xf32>
  %1 = tosa.slice %0, %s1, %n1 : (tensor<1x3x4x1xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x3x1xf32>
  return %1 : tensor<1x2x3x1xf32>
}
