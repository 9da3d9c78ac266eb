// RUN: conquer-opt %s --conquer-write-layers="layers=%t.json profile=x86-64 profile-dir=%profiles" -o %t.mlir
// RUN: FileCheck %s < %t.json

// CHECK: {"format": "conquer.layers", "version": 1,
// CHECK: {"id":"image","shape":[2,9,9,2]}
// CHECK: {"id":"y","shape":[2,60,60]}
// CHECK: {"id":"conv","op":"conv2d","input_shape":[2,9,9,2],"output_shape":[2,5,3,4],"weight_shape":[4,3,3,2],"stride":[2,3],"dilation":[1,2],"pad":[1,1,0,2],"macs":2160,"weights":72,"signature":"conv2d_b2_9x9x2_k4x3x3_s2x3_d1x2_p1.1.0.2","precisions":["f32","bf16","i8","w4a8"]}
// CHECK: {"id":"dw","op":"depthwise_conv2d","input_shape":[2,5,3,4],"output_shape":[2,5,3,4],"weight_shape":[3,3,4,1],"stride":[1,1],"dilation":[1,1],"pad":[1,1,1,1],"macs":1080,"weights":36,"signature":"depthwise_conv2d_b2_5x3x4_k3x3x1_s1x1_d1x1_p1.1.1.1","precisions":["f32","bf16","i8","w4a8"]}
// CHECK: {"id":"up","op":"transpose_conv2d","input_shape":[2,5,3,4],"output_shape":[2,10,6,4],"weight_shape":[4,2,2,4],"stride":[2,2],"dilation":[1,1],"pad":[0,0,0,0],"macs":1920,"weights":64,"signature":"transpose_conv2d_b2_5x3x4_k4x2x2_s2x2_d1x1_p0.0.0.0","precisions":["f32"]}
// CHECK: {"id":"mm","op":"matmul","input_shape":[2,60,4],"output_shape":[2,60,60],"weight_shape":[4,60],"stride":[1,1],"dilation":[1,1],"pad":[0,0,0,0],"macs":28800,"weights":0,"signature":"matmul_2x60x4_k60","precisions":["f32"]}
// CHECK: "edges": [
// CHECK-NEXT: {"from":"image","to":"conv","elements":324},
// CHECK-NEXT: {"from":"conv","to":"dw","elements":120},
// CHECK-NEXT: {"from":"dw","to":"up","elements":120},
// The sum reads dw and conv: through it, both reach the transposed convolution.
// CHECK-NEXT: {"from":"conv","to":"up","elements":120},
// One edge although mm reads the same value twice.
// CHECK-NEXT: {"from":"up","to":"mm","elements":480},
// CHECK-NEXT: {"from":"mm","to":"y","elements":7200},
// CHECK-NEXT: {"from":"conv","to":"z","elements":120}

func.func @main(%image: tensor<2x9x9x2xf32> {conquer.id = "image"}) -> (tensor<2x60x60xf32> {conquer.id = "y"}, tensor<2x5x3x4xf32> {conquer.id = "z"}) {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %w = "tosa.const"() {values = dense<1.0> : tensor<4x3x3x2xf32>} : () -> tensor<4x3x3x2xf32>
  %wd = "tosa.const"() {values = dense<1.0> : tensor<3x3x4x1xf32>} : () -> tensor<3x3x4x1xf32>
  %wt = "tosa.const"() {values = dense<1.0> : tensor<4x2x2x4xf32>} : () -> tensor<4x2x2x4xf32>
  %b = "tosa.const"() {values = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = tosa.conv2d %image, %w, %b, %zp, %zp {conquer.id = "conv", acc_type = f32, dilation = array<i64: 1, 2>, pad = array<i64: 1, 1, 0, 2>, stride = array<i64: 2, 3>} : (tensor<2x9x9x2xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x5x3x4xf32>
  %1 = tosa.depthwise_conv2d %0, %wd, %b, %zp, %zp {conquer.id = "dw", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<2x5x3x4xf32>, tensor<3x3x4x1xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x5x3x4xf32>
  %2 = tosa.add %1, %0 {conquer.id = "sum"} : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) -> tensor<2x5x3x4xf32>
  %3 = tosa.transpose_conv2d %2, %wt, %b, %zp, %zp {conquer.id = "up", acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<2x5x3x4xf32>, tensor<4x2x2x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x10x6x4xf32>
  %s = tosa.const_shape {values = dense<[2, 60, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %4 = tosa.reshape %3, %s {conquer.id = "rows"} : (tensor<2x10x6x4xf32>, !tosa.shape<3>) -> tensor<2x60x4xf32>
  %5 = tosa.transpose %4 {perms = array<i32: 0, 2, 1>, conquer.id = "columns"} : (tensor<2x60x4xf32>) -> tensor<2x4x60xf32>
  %6 = tosa.matmul %4, %5, %zp, %zp {conquer.id = "mm"} : (tensor<2x60x4xf32>, tensor<2x4x60xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x60x60xf32>
  return %6, %0 : tensor<2x60x60xf32>, tensor<2x5x3x4xf32>
}
