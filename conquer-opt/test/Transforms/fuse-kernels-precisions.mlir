// bf16 and w4a8 convolutions become kernel calls where the profile has the kernels.
// RUN: conquer-opt %s --split-input-file --conquer-fuse-kernels="profile=x86-64 profile-dir=%profiles" | FileCheck %s
// RUN: sed -e 's/"bf16": "kernel"/"bf16": "iree"/' %profiles/x86-64.json > %t.iree.json
// RUN: conquer-opt %s --split-input-file --conquer-fuse-kernels="profile=%t.iree.json" | FileCheck %s --check-prefix=IREE

// The clamp is part of the call; the bias is kept as f32.
// CHECK-LABEL: @bf16
// CHECK-SAME: %[[X:.*]]: tensor<1x4x4x2xbf16>
// IREE-LABEL: @bf16
func.func @bf16(%x: tensor<1x4x4x2xbf16>) -> tensor<1x4x4x3xbf16> {
  // CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<2.000000e+00> : tensor<3x3x3x2xbf16>}>
  // CHECK-DAG: %[[B:.*]] = "tosa.const"() <{values = dense<[1.000000e+00, -2.000000e+00, 3.000000e+00]> : tensor<3xf32>}>
  // CHECK: %[[Y:.*]] = conquer.conv2d %[[X]], %[[W]], %[[B]] {clamp_max_f32 = 6.000000e+00 : f32, clamp_min_f32 = 0.000000e+00 : f32
  // CHECK-SAME: conquer.id = "relu", conquer.layer = "conv"
  // CHECK-SAME: -> tensor<1x4x4x3xbf16>
  // CHECK-NEXT: return %[[Y]]
  // IREE: tosa.conv2d
  // IREE: tosa.clamp
  %w = "tosa.const"() <{values = dense<2.0> : tensor<3x3x3x2xbf16>}> : () -> tensor<3x3x3x2xbf16>
  %b = "tosa.const"() <{values = dense<[1.0, -2.0, 3.0]> : tensor<3xbf16>}> : () -> tensor<3xbf16>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xbf16>}> : () -> tensor<1xbf16>
  %0 = tosa.conv2d %x, %w, %b, %zero, %zero {conquer.layer = "conv", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xbf16>, tensor<3x3x3x2xbf16>, tensor<3xbf16>, tensor<1xbf16>, tensor<1xbf16>) -> tensor<1x4x4x3xbf16>
  %1 = tosa.clamp %0 {conquer.id = "relu", min_val = 0.0 : bf16, max_val = 6.0 : bf16} : (tensor<1x4x4x3xbf16>) -> tensor<1x4x4x3xbf16>
  return %1 : tensor<1x4x4x3xbf16>
}

// -----

// The clamp stays if the convolution has other readers, or if it does not let NaN pass.
// CHECK-LABEL: @clamp_apart
func.func @clamp_apart(%x: tensor<1x4x4x2xbf16>) -> (tensor<1x4x4x3xbf16>, tensor<1x4x4x3xbf16>, tensor<1x4x4x3xbf16>) {
  // CHECK: %[[A:.*]] = conquer.conv2d
  // CHECK-NOT: clamp_max_f32
  // CHECK: %[[B:.*]] = tosa.clamp %[[A]]
  // CHECK: %[[C:.*]] = conquer.conv2d
  // CHECK-NOT: clamp_max_f32
  // CHECK: %[[D:.*]] = tosa.clamp %[[C]]
  // CHECK: return %[[A]], %[[B]], %[[D]]
  %w = "tosa.const"() <{values = dense<2.0> : tensor<3x3x3x2xbf16>}> : () -> tensor<3x3x3x2xbf16>
  %b = "tosa.const"() <{values = dense<[1.0, -2.0, 3.0]> : tensor<3xbf16>}> : () -> tensor<3xbf16>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xbf16>}> : () -> tensor<1xbf16>
  %0 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xbf16>, tensor<3x3x3x2xbf16>, tensor<3xbf16>, tensor<1xbf16>, tensor<1xbf16>) -> tensor<1x4x4x3xbf16>
  %1 = tosa.clamp %0 {min_val = 0.0 : bf16, max_val = 6.0 : bf16} : (tensor<1x4x4x3xbf16>) -> tensor<1x4x4x3xbf16>
  %2 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xbf16>, tensor<3x3x3x2xbf16>, tensor<3xbf16>, tensor<1xbf16>, tensor<1xbf16>) -> tensor<1x4x4x3xbf16>
  %3 = tosa.clamp %2 {min_val = 0.0 : bf16, max_val = 6.0 : bf16, nan_mode = IGNORE} : (tensor<1x4x4x3xbf16>) -> tensor<1x4x4x3xbf16>
  return %0, %1, %3 : tensor<1x4x4x3xbf16>, tensor<1x4x4x3xbf16>, tensor<1x4x4x3xbf16>
}

// -----

// CHECK-LABEL: @depthwise_bf16
func.func @depthwise_bf16(%x: tensor<1x4x4x2xbf16>) -> tensor<1x4x4x2xbf16> {
  // CHECK: conquer.depthwise_conv2d {{.*}} : (tensor<1x4x4x2xbf16>, tensor<3x3x2x1xbf16>, tensor<2xf32>) -> tensor<1x4x4x2xbf16>
  %w = "tosa.const"() <{values = dense<2.0> : tensor<3x3x2x1xbf16>}> : () -> tensor<3x3x2x1xbf16>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<2xbf16>}> : () -> tensor<2xbf16>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xbf16>}> : () -> tensor<1xbf16>
  %0 = tosa.depthwise_conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xbf16>, tensor<3x3x2x1xbf16>, tensor<2xbf16>, tensor<1xbf16>, tensor<1xbf16>) -> tensor<1x4x4x2xbf16>
  return %0 : tensor<1x4x4x2xbf16>
}

// -----

// i4 weights, otherwise the chain of i8.
// CHECK-LABEL: @w4a8
func.func @w4a8(%x: tensor<1x4x4x2xi8>) -> tensor<1x4x4x3xi8> {
  // CHECK: %[[W:.*]] = "tosa.const"() <{values = dense<-7> : tensor<3x3x3x2xi4>}>
  // CHECK: conquer.conv2d %{{.*}}, %[[W]], {{.*}}clamp_min = -100 : i32{{.*}}input_zp = -128 : i32
  // CHECK-SAME: (tensor<1x4x4x2xi8>, tensor<3x3x3x2xi4>, tensor<3xi32>, tensor<3xf32>) -> tensor<1x4x4x3xi8>
  %w = "tosa.const"() <{values = dense<-7> : tensor<3x3x3x2xi4>}> : () -> tensor<3x3x3x2xi4>
  %b = "tosa.const"() <{values = dense<[1, -2, 3]> : tensor<3xi32>}> : () -> tensor<3xi32>
  %low = "tosa.const"() <{values = dense<-128> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero4 = "tosa.const"() <{values = dense<0> : tensor<1xi4>}> : () -> tensor<1xi4>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %w, %b, %low, %zero4 {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xi8>, tensor<3x3x3x2xi4>, tensor<3xi32>, tensor<1xi8>, tensor<1xi4>) -> tensor<1x4x4x3xi32>
  %1 = tosa.cast %0 : (tensor<1x4x4x3xi32>) -> tensor<1x4x4x3xf32>
  %2 = tosa.mul %1, %m, %shift : (tensor<1x4x4x3xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x4x3xf32>
  %3 = tosa.clamp %2 {min_val = -100.0 : f32, max_val = 127.0 : f32} : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %4 = tosa.cast %3 : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xi32>
  %5 = tosa.cast %4 : (tensor<1x4x4x3xi32>) -> tensor<1x4x4x3xi8>
  return %5 : tensor<1x4x4x3xi8>
}
