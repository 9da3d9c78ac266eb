// What a layer cannot run in is not in its alphabet: weights that f16 cannot hold, and several filters per channel, for
// which no kernel of w4a8 is there.
// RUN: sed -e 's/"w4a8": "kernel"}/"w4a8": "kernel", "f16": "iree"}/' %profiles/x86-64.json > %t.profile.json
// RUN: conquer-opt %s --conquer-write-layers="layers=%t.json profile=%t.profile.json" -o /dev/null
// RUN: FileCheck %s < %t.json

// CHECK: "id":"large"{{.*}}"precisions":["f32","bf16","i8","w4a8"]
// CHECK: "id":"twice"{{.*}}"precisions":["f32","bf16","f16","i8"]

func.func @main(%image: tensor<1x4x4x2xf32> {conquer.id = "image"}) -> (tensor<1x4x4x4xf32> {conquer.id = "y"}) {
  %w = "tosa.const"() <{values = dense<7.0e4> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %wd = "tosa.const"() <{values = dense<1.0> : tensor<1x1x2x2xf32>}> : () -> tensor<1x1x2x2xf32>
  %bd = "tosa.const"() <{values = dense<0.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %image, %w, %b, %zp, %zp {conquer.id = "large", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.depthwise_conv2d %0, %wd, %bd, %zp, %zp {conquer.id = "twice", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x2x2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x4xf32>
  return %1 : tensor<1x4x4x4xf32>
}
