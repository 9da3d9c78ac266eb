// main also returns its arguments, every value with an id and every operand of a fused op; no other function changes.
// RUN: conquer-opt %s --conquer-probe-values | FileCheck %s

// CHECK: func.func @main(%[[X:.*]]: tensor<1x1x1x2xf32> {conquer.id = "image"})
// CHECK-SAME: -> (tensor<1x1x1x2xi8> {conquer.id = "out"},
// CHECK-SAME: tensor<1x1x1x2xf32> {conquer.id = "image", conquer.value = 1 : i32}, tensor<1x1x1x2xi8> {conquer.value = 2 : i32},
// CHECK-SAME: tensor<1x1x1x2xi8> {conquer.id = "conv", conquer.value = 3 : i32}, tensor<1x1x1x2xi8> {conquer.id = "pool", conquer.value = 4 : i32})
func.func @main(%x: tensor<1x1x1x2xf32> {conquer.id = "image"}) -> (tensor<1x1x1x2xi8> {conquer.id = "out"}) {
  %w = "tosa.const"() <{values = dense<2> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %b = "tosa.const"() <{values = dense<7> : tensor<2xi32>}> : () -> tensor<2xi32>
  %m = "tosa.const"() <{values = dense<0.5> : tensor<2xf32>}> : () -> tensor<2xf32>
  // CHECK: %[[Q:.*]] = tosa.cast
  %q = tosa.cast %x : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xi8>
  // CHECK: %[[C:.*]] = conquer.conv2d
  %0 = conquer.conv2d %q, %w, %b, %m {conquer.id = "conv", dilation = array<i64: 1, 1>, input_zp = 0 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x1x1x2xi8>
  // CHECK: %[[P:.*]] = tosa.max_pool2d
  %1 = tosa.max_pool2d %0 {conquer.id = "pool", kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>) -> tensor<1x1x1x2xi8>
  // CHECK: return %[[P]], %[[X]], %[[Q]], %[[C]], %[[P]] :
  return %1 : tensor<1x1x1x2xi8>
}

// CHECK: func.func @other(%{{.*}}: tensor<1xf32>) -> tensor<1xf32>
func.func @other(%x: tensor<1xf32>) -> tensor<1xf32> {
  return %x : tensor<1xf32>
}
