// RUN: conquer-opt %s --split-input-file --conquer-propagate-layout --conquer-fold-constants --canonicalize --cse | FileCheck %s

// Two blocks in N, C, H, W: only the transposes of the input and the output are left. Constants, axes and shapes turn.
// CHECK-LABEL: @sinks
// CHECK-SAME: %[[X:.*]]: tensor<1x2x5x3xf32>
func.func @sinks(%x: tensor<1x2x5x3xf32>) -> tensor<1x4x5x1xf32> {
  // CHECK-DAG: %[[PAD:.*]] = tosa.const_shape {values = dense<[0, 0, 1, 0, 0, 0, 0, 0]>
  // CHECK-DAG: %[[SIZE:.*]] = tosa.const_shape {values = dense<[1, 5, 1, 4]>
  // CHECK: %[[T:.*]] = tosa.transpose %[[X]] {perms = array<i32: 0, 2, 3, 1>}
  // CHECK-NEXT: %[[P:.*]] = tosa.max_pool2d %[[T]]
  // CHECK-NEXT: %[[C:.*]] = tosa.concat %[[P]], %[[P]] {axis = 3 : i32}
  // CHECK-NEXT: %[[R:.*]] = tosa.reduce_max %[[C]] {axis = 2 : i32}
  // CHECK-NEXT: %[[E:.*]] = tosa.pad %[[R]], %[[PAD]]
  // CHECK-NEXT: %[[S:.*]] = tosa.slice %[[E]], %{{.*}}, %[[SIZE]]
  // CHECK-NEXT: %[[V:.*]] = tosa.reverse %[[S]] {axis = 1 : i32}
  // CHECK: %[[A:.*]] = tosa.add %[[V]], %{{.*}} : (tensor<1x5x1x4xf32>, tensor<1x1x1x4xf32>)
  // CHECK-NEXT: %[[Y:.*]] = tosa.max_pool2d %[[A]]
  // CHECK-NEXT: %[[O:.*]] = tosa.transpose %[[Y]] {perms = array<i32: 0, 3, 1, 2>}
  // CHECK-NEXT: return %[[O]]
  %b = "tosa.const"() {values = dense<[[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]> : tensor<1x4x1x1xf32>} : () -> tensor<1x4x1x1xf32>
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %pad = tosa.const_shape {values = dense<[0, 0, 0, 0, 1, 0, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %start = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 4, 5, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.transpose %x {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x5x3xf32>) -> tensor<1x5x3x2xf32>
  %1 = tosa.max_pool2d %0 {kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x5x3x2xf32>) -> tensor<1x5x3x2xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x5x3x2xf32>) -> tensor<1x2x5x3xf32>
  %3 = tosa.concat %2, %2 {axis = 1 : i32} : (tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>) -> tensor<1x4x5x3xf32>
  %4 = tosa.reduce_max %3 {axis = 3 : i32} : (tensor<1x4x5x3xf32>) -> tensor<1x4x5x1xf32>
  %5 = tosa.pad %4, %pad, %z : (tensor<1x4x5x1xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x4x6x1xf32>
  %6 = tosa.slice %5, %start, %size : (tensor<1x4x6x1xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x4x5x1xf32>
  %7 = tosa.reverse %6 {axis = 2 : i32} : (tensor<1x4x5x1xf32>) -> tensor<1x4x5x1xf32>
  %8 = tosa.add %7, %b : (tensor<1x4x5x1xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x5x1xf32>
  %9 = tosa.transpose %8 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x4x5x1xf32>) -> tensor<1x5x1x4xf32>
  %10 = tosa.max_pool2d %9 {kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x5x1x4xf32>) -> tensor<1x5x1x4xf32>
  %11 = tosa.transpose %10 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x5x1x4xf32>) -> tensor<1x4x5x1xf32>
  return %11 : tensor<1x4x5x1xf32>
}

// -----

// Arithmetic before the first convolution: the transpose rises to the input.
// CHECK-LABEL: @rises
// CHECK-SAME: %[[X:.*]]: tensor<1x2x4x4xf32>
func.func @rises(%x: tensor<1x2x4x4xf32>) -> tensor<1x4x4x2xf32> {
  // CHECK: %[[T:.*]] = tosa.transpose %[[X]] {perms = array<i32: 0, 2, 3, 1>}
  // CHECK: %[[E:.*]] = tosa.exp %[[T]]
  // CHECK: %[[S:.*]] = tosa.sub %[[E]], %[[T]]
  // CHECK: tosa.max_pool2d %[[S]]
  %0 = tosa.exp %x : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %1 = tosa.sub %0, %x : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x4x4xf32>) -> tensor<1x4x4x2xf32>
  %3 = tosa.max_pool2d %2 {kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %3 : tensor<1x4x4x2xf32>
}

// -----

// Squeeze and excitation: [1, 1, 1, C] has both layouts at once; no reshape stays in the way.
// CHECK-LABEL: @excitation
// CHECK-SAME: %[[X:.*]]: tensor<1x4x4x2xf32>
func.func @excitation(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  // CHECK: %[[P:.*]] = tosa.avg_pool2d
  // CHECK-NEXT: %[[S:.*]] = tosa.sigmoid %[[P]] : (tensor<1x1x1x2xf32>)
  // CHECK-NEXT: %[[M:.*]] = tosa.add %[[X]], %[[S]]
  // CHECK-NEXT: return %[[M]]
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %s = tosa.const_shape {values = dense<[1, 2, 1, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.avg_pool2d %x, %z, %z {acc_type = f32, kernel = array<i64: 4, 4>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %1 = tosa.reshape %0, %s : (tensor<1x1x1x2xf32>, !tosa.shape<4>) -> tensor<1x2x1x1xf32>
  %2 = tosa.sigmoid %1 : (tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %3 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x4x4xf32>
  %4 = tosa.add %3, %2 : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %5 = tosa.transpose %4 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x4x4xf32>) -> tensor<1x4x4x2xf32>
  return %5 : tensor<1x4x4x2xf32>
}

// -----

// A channel shuffle in N, C, H, W keeps one transpose, of channels only.
// CHECK-LABEL: @shuffle
// CHECK-SAME: %[[X:.*]]: tensor<1x5x4x6xf32>
func.func @shuffle(%x: tensor<1x5x4x6xf32>) -> tensor<1x5x4x3xf32> {
  // CHECK: %[[P:.*]] = tosa.max_pool2d %[[X]]
  // CHECK: %[[R:.*]] = tosa.reshape %[[P]], {{.*}} -> tensor<5x4x2x3xf32>
  // CHECK: %[[T:.*]] = tosa.transpose %[[R]] {perms = array<i32: 0, 1, 3, 2>}
  // CHECK: %[[M:.*]] = tosa.reshape %[[T]], {{.*}} -> tensor<1x5x4x6xf32>
  // CHECK: %[[S:.*]] = tosa.slice %[[M]], {{.*}} -> tensor<1x5x4x3xf32>
  // CHECK: tosa.max_pool2d %[[S]]
  // CHECK-NOT: tosa.transpose
  %five = tosa.const_shape {values = dense<[1, 2, 3, 5, 4]> : tensor<5xindex>} : () -> !tosa.shape<5>
  %four = tosa.const_shape {values = dense<[1, 6, 5, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %start = tosa.const_shape {values = dense<[0, 3, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 3, 5, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.max_pool2d %x {kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x5x4x6xf32>) -> tensor<1x5x4x6xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x5x4x6xf32>) -> tensor<1x6x5x4xf32>
  %2 = tosa.reshape %1, %five : (tensor<1x6x5x4xf32>, !tosa.shape<5>) -> tensor<1x2x3x5x4xf32>
  %3 = tosa.transpose %2 {perms = array<i32: 0, 2, 1, 3, 4>} : (tensor<1x2x3x5x4xf32>) -> tensor<1x3x2x5x4xf32>
  %4 = tosa.reshape %3, %four : (tensor<1x3x2x5x4xf32>, !tosa.shape<4>) -> tensor<1x6x5x4xf32>
  %5 = tosa.slice %4, %start, %size : (tensor<1x6x5x4xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x3x5x4xf32>
  %6 = tosa.transpose %5 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x3x5x4xf32>) -> tensor<1x5x4x3xf32>
  %7 = tosa.max_pool2d %6 {kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x5x4x3xf32>) -> tensor<1x5x4x3xf32>
  return %7 : tensor<1x5x4x3xf32>
}

// -----

// Patch embedding: [1, H, W, C] -> [1, C, H*W] -> [1, H*W, C] is a reshape.
// CHECK-LABEL: @patches
// CHECK-SAME: %[[X:.*]]: tensor<1x2x3x4xf32>
func.func @patches(%x: tensor<1x2x3x4xf32>) -> tensor<1x6x4xf32> {
  // CHECK: %[[E:.*]] = tosa.exp %[[X]]
  // CHECK-NEXT: %[[R:.*]] = tosa.reshape %[[E]]
  // CHECK-NEXT: return %[[R]]
  %s = tosa.const_shape {values = dense<[1, 4, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.exp %x : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x3x4xf32>) -> tensor<1x4x2x3xf32>
  %2 = tosa.reshape %1, %s : (tensor<1x4x2x3xf32>, !tosa.shape<3>) -> tensor<1x4x6xf32>
  %3 = tosa.transpose %2 {perms = array<i32: 0, 2, 1>} : (tensor<1x4x6xf32>) -> tensor<1x6x4xf32>
  return %3 : tensor<1x6x4xf32>
}

// -----

// The fully connected layer of a flattened N, C, H, W image: its weights are reordered instead.
// CHECK-LABEL: @flatten
// CHECK-SAME: %[[X:.*]]: tensor<1x1x2x2xf32>
func.func @flatten(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xf32> {
  // CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}1.000000e+00, 3.000000e+00, 2.000000e+00, 4.000000e+00]]]]> : tensor<1x1x1x4xf32>}>
  // CHECK: %[[E:.*]] = tosa.exp %[[X]]
  // CHECK-NEXT: %[[R:.*]] = tosa.reshape %[[E]]
  // CHECK-NEXT: tosa.conv2d %[[R]], %[[W]]
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %w = "tosa.const"() {values = dense<[[[[1.0, 2.0, 3.0, 4.0]]]]> : tensor<1x1x1x4xf32>} : () -> tensor<1x1x1x4xf32>
  %s = tosa.const_shape {values = dense<[1, 1, 1, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.exp %x : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x1x2x2xf32>) -> tensor<1x2x1x2xf32>
  %2 = tosa.reshape %1, %s : (tensor<1x2x1x2xf32>, !tosa.shape<4>) -> tensor<1x1x1x4xf32>
  %3 = tosa.conv2d %2, %w, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %3 : tensor<1x1x1x1xf32>
}

// -----

// A transpose that is computation (of attention) stays.
// CHECK-LABEL: @attention
func.func @attention(%x: tensor<1x3x2xf32>) -> tensor<1x3x3xf32> {
  // CHECK: tosa.transpose
  // CHECK: tosa.matmul
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = tosa.exp %x : (tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 0, 2, 1>} : (tensor<1x3x2xf32>) -> tensor<1x2x3xf32>
  %2 = tosa.matmul %0, %1, %z, %z : (tensor<1x3x2xf32>, tensor<1x2x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3xf32>
  return %2 : tensor<1x3x3xf32>
}
