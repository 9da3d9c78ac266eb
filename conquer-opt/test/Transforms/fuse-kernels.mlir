// An i8 convolution and the ops that requantise its accumulator become one op.
// RUN: conquer-opt %s --split-input-file --conquer-fuse-kernels="profile=x86-64 profile-dir=%profiles" | FileCheck %s

// i8 result; the id is that of the chain's last op, the bounds of the clamp become codes.
// CHECK-LABEL: @to_i8
// CHECK-SAME: %[[X:.*]]: tensor<1x4x4x2xi8>
func.func @to_i8(%x: tensor<1x4x4x2xi8>) -> tensor<1x4x4x3xi8> {
  // CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<2> : tensor<3x3x3x2xi8>}>
  // CHECK-DAG: %[[B:.*]] = "tosa.const"() <{values = dense<[1, -2, 3]> : tensor<3xi32>}>
  // CHECK-DAG: %[[M:.*]] = "tosa.const"() <{values = dense<[5.000000e-01, 2.500000e-01, 1.250000e-01]> : tensor<3xf32>}>
  // CHECK: %[[Y:.*]] = conquer.conv2d %[[X]], %[[W]], %[[B]], %[[M]]
  // CHECK-SAME: {clamp_min = -83 : i32
  // CHECK-SAME: conquer.id = "relu"
  // CHECK-SAME: dilation = array<i64: 1, 1>
  // CHECK-SAME: input_zp = 4 : i32
  // CHECK-SAME: output_zp = -83 : i32
  // CHECK-SAME: pad = array<i64: 1, 1, 1, 1>
  // CHECK-SAME: stride = array<i64: 1, 1>
  // CHECK-NEXT: return %[[Y]]
  %w = "tosa.const"() <{values = dense<2> : tensor<3x3x3x2xi8>}> : () -> tensor<3x3x3x2xi8>
  %b = "tosa.const"() <{values = dense<[1, -2, 3]> : tensor<3xi32>}> : () -> tensor<3xi32>
  %xzp = "tosa.const"() <{values = dense<4> : tensor<1xi8>}> : () -> tensor<1xi8>
  %wzp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = "tosa.const"() <{values = dense<[[[[0.5, 0.25, 0.125]]]]> : tensor<1x1x1x3xf32>}> : () -> tensor<1x1x1x3xf32>
  %zp = "tosa.const"() <{values = dense<-83> : tensor<1x1x1x1xi32>}> : () -> tensor<1x1x1x1xi32>
  %0 = tosa.conv2d %x, %w, %b, %xzp, %wzp {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, conquer.id = "conv"} : (tensor<1x4x4x2xi8>, tensor<3x3x3x2xi8>, tensor<3xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x3xi32>
  %1 = tosa.cast %0 : (tensor<1x4x4x3xi32>) -> tensor<1x4x4x3xf32>
  %2 = tosa.mul %1, %m, %wzp : (tensor<1x4x4x3xf32>, tensor<1x1x1x3xf32>, tensor<1xi8>) -> tensor<1x4x4x3xf32>
  %3 = tosa.clamp %2 {min_val = 0.0 : f32, max_val = 210.0 : f32} : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %4 = tosa.cast %3 : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xi32>
  %5 = tosa.add %4, %zp : (tensor<1x4x4x3xi32>, tensor<1x1x1x1xi32>) -> tensor<1x4x4x3xi32>
  %6 = tosa.cast %5 {conquer.id = "relu"} : (tensor<1x4x4x3xi32>) -> tensor<1x4x4x3xi8>
  return %6 : tensor<1x4x4x3xi8>
}

// -----

// f32 result with a clamp; one bias and one multiplier stand for all channels; the constant may come first.
// CHECK-LABEL: @to_f32
func.func @to_f32(%x: tensor<1x4x4x3xi8>) -> tensor<1x2x2x3xf32> {
  // CHECK-DAG: %[[B:.*]] = "tosa.const"() <{values = dense<7> : tensor<3xi32>}>
  // CHECK-DAG: %[[M:.*]] = "tosa.const"() <{values = dense<5.000000e-01> : tensor<3xf32>}>
  // CHECK: conquer.depthwise_conv2d %{{.*}}, %{{.*}}, %[[B]], %[[M]]
  // CHECK-SAME: clamp_max_f32 = 6.000000e+00 : f32
  // CHECK-SAME: clamp_min_f32 = 0.000000e+00 : f32
  // CHECK-SAME: -> tensor<1x2x2x3xf32>
  // CHECK-NOT: tosa.clamp
  %w = "tosa.const"() <{values = dense<2> : tensor<2x2x3x1xi8>}> : () -> tensor<2x2x3x1xi8>
  %b = "tosa.const"() <{values = dense<7> : tensor<1xi32>}> : () -> tensor<1xi32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.depthwise_conv2d %x, %w, %b, %zero, %zero {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x3xi8>, tensor<2x2x3x1xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x2x3xi32>
  %1 = tosa.cast %0 : (tensor<1x2x2x3xi32>) -> tensor<1x2x2x3xf32>
  %2 = tosa.mul %m, %1, %zero : (tensor<1x1x1x1xf32>, tensor<1x2x2x3xf32>, tensor<1xi8>) -> tensor<1x2x2x3xf32>
  %3 = tosa.clamp %2 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>
  return %3 : tensor<1x2x2x3xf32>
}

// -----

// The f32 value has another reader, so the chain ends there and the conversion stays.
// CHECK-LABEL: @shared_value
func.func @shared_value(%x: tensor<1x1x1x2xi8>) -> (tensor<1x1x1x2xf32>, tensor<1x1x1x2xi8>) {
  // CHECK: %[[F:.*]] = conquer.conv2d {{.*}} -> tensor<1x1x1x2xf32>
  // CHECK: tosa.cast %[[F]]
  // CHECK: tosa.cast {{.*}} -> tensor<1x1x1x2xi8>
  %w = "tosa.const"() <{values = dense<2> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %b = "tosa.const"() <{values = dense<7> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x2xi32>
  %1 = tosa.cast %0 : (tensor<1x1x1x2xi32>) -> tensor<1x1x1x2xf32>
  %2 = tosa.mul %1, %m, %zero : (tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1x2xf32>
  %3 = tosa.clamp %2 {min_val = -128.0 : f32, max_val = 127.0 : f32} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %4 = tosa.cast %3 : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xi32>
  %5 = tosa.cast %4 : (tensor<1x1x1x2xi32>) -> tensor<1x1x1x2xi8>
  return %3, %5 : tensor<1x1x1x2xf32>, tensor<1x1x1x2xi8>
}

// -----

// Bounds that are not codes (the clamp would have to cut at 127.5): the conversion stays.
// CHECK-LABEL: @not_codes
func.func @not_codes(%x: tensor<1x1x1x2xi8>) -> tensor<1x1x1x2xi8> {
  // CHECK: conquer.conv2d {{.*}}clamp_max_f32 = 1.275000e+02 : f32{{.*}} -> tensor<1x1x1x2xf32>
  // CHECK: tosa.cast {{.*}} -> tensor<1x1x1x2xi8>
  %w = "tosa.const"() <{values = dense<2> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %b = "tosa.const"() <{values = dense<7> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x2xi32>
  %1 = tosa.cast %0 : (tensor<1x1x1x2xi32>) -> tensor<1x1x1x2xf32>
  %2 = tosa.mul %1, %m, %zero : (tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1x2xf32>
  %3 = tosa.clamp %2 {min_val = -128.0 : f32, max_val = 127.5 : f32} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %4 = tosa.cast %3 : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xi32>
  %5 = tosa.cast %4 : (tensor<1x1x1x2xi32>) -> tensor<1x1x1x2xi8>
  return %5 : tensor<1x1x1x2xi8>
}

// -----

// Stride 2 over 4 rows needs 3 of them; the crop that TOSA asks for is dropped. The layer's id is kept.
// CHECK-LABEL: @idle_crop
// CHECK-SAME: %[[X:.*]]: tensor<1x4x4x2xi8>
func.func @idle_crop(%x: tensor<1x4x4x2xi8>) -> tensor<1x2x2x2xf32> {
  // CHECK-NOT: tosa.slice
  // CHECK: conquer.conv2d %[[X]], {{.*}}conquer.layer = "conv"
  %w = "tosa.const"() <{values = dense<2> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %b = "tosa.const"() <{values = dense<7> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %start = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 3, 3, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %c = tosa.slice %x, %start, %size : (tensor<1x4x4x2xi8>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x3x3x2xi8>
  %0 = tosa.conv2d %c, %w, %b, %zero, %zero {conquer.layer = "conv", acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x3x3x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x2x2xi32>
  %1 = tosa.cast %0 : (tensor<1x2x2x2xi32>) -> tensor<1x2x2x2xf32>
  %2 = tosa.mul %1, %m, %zero : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  return %2 : tensor<1x2x2x2xf32>
}

// -----

// Padding stands where the crop took real values away: it must stay.
// CHECK-LABEL: @real_crop
func.func @real_crop(%x: tensor<1x4x4x2xi8>) -> tensor<1x3x3x2xf32> {
  // CHECK: %[[C:.*]] = tosa.slice
  // CHECK: conquer.conv2d %[[C]], {{.*}}pad = array<i64: 1, 1, 1, 1>
  %w = "tosa.const"() <{values = dense<2> : tensor<2x3x3x2xi8>}> : () -> tensor<2x3x3x2xi8>
  %b = "tosa.const"() <{values = dense<7> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %start = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 3, 3, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %c = tosa.slice %x, %start, %size : (tensor<1x4x4x2xi8>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x3x3x2xi8>
  %0 = tosa.conv2d %c, %w, %b, %zero, %zero {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x3x3x2xi8>, tensor<2x3x3x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x3x3x2xi32>
  %1 = tosa.cast %0 : (tensor<1x3x3x2xi32>) -> tensor<1x3x3x2xf32>
  %2 = tosa.mul %1, %m, %zero : (tensor<1x3x3x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x3x3x2xf32>
  return %2 : tensor<1x3x3x2xf32>
}
