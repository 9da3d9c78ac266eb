// bf16 and w4a8 calls: the kernels' names, and the operands as the kernels read them.
// RUN: conquer-opt %s --conquer-lower-kernels="profile=x86-64 profile-dir=%profiles" --mlir-print-op-generic | FileCheck %s

// CHECK-DAG: sym_name = "cq_conv2d_bf16_portable"
// CHECK-DAG: sym_name = "cq_depthwise_bf16_portable"
// CHECK-DAG: sym_name = "cq_conv2d_w4a8_i8_portable"
// CHECK-DAG: sym_name = "cq_depthwise_w4a8_f32_portable"

// CHECK: sym_name = "main"
func.func @main(%x: tensor<1x4x4x2xbf16>, %q: tensor<1x4x4x2xi8>) -> (tensor<1x4x4x2xbf16>, tensor<1x4x4x2xf32>) {
  // Two of these numbers are 0x3F80 and 0xC000; what else the packing adds is the level's own affair.
  %w = "tosa.const"() <{values = dense<[[[[1.0, -2.0]]], [[[1.0, -2.0]]]]> : tensor<2x1x1x2xbf16>}> : () -> tensor<2x1x1x2xbf16>
  %b = "tosa.const"() <{values = dense<[5.0, 6.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  // CHECK: %[[W:.*]] = "tosa.const"() <{values = dense<{{.*}}> : tensor<{{[0-9]+}}xbf16>}>
  // CHECK: %[[B:.*]] = "tosa.const"() <{values = dense<[5.000000e+00, 6.000000e+00]> : tensor<2xf32>}>
  // CHECK: "flow.dispatch"(%{{.*}}, %{{.*}}, %[[W]], %[[B]], %{{.*}}) {entry_points = [@cq_kernels::@cq_conv2d_bf16], operandSegmentSizes = array<i32: 1, 4, 0, 0>
  // CHECK-SAME: -> tensor<1x4x4x2xbf16>
  %0 = conquer.conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xbf16>, tensor<2x1x1x2xbf16>, tensor<2xf32>) -> tensor<1x4x4x2xbf16>
  %wd = "tosa.const"() <{values = dense<7.0> : tensor<3x3x2x1xbf16>}> : () -> tensor<3x3x2x1xbf16>
  // CHECK: values = dense<7.000000e+00> : tensor<18xbf16>
  // CHECK: @cq_depthwise_bf16]
  %1 = conquer.depthwise_conv2d %0, %wd, %b {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xbf16>, tensor<3x3x2x1xbf16>, tensor<2xf32>) -> tensor<1x4x4x2xbf16>

  %w4 = "tosa.const"() <{values = dense<-7> : tensor<2x1x1x2xi4>}> : () -> tensor<2x1x1x2xi4>
  %bi = "tosa.const"() <{values = dense<[5, 6]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %m = "tosa.const"() <{values = dense<0.5> : tensor<2xf32>}> : () -> tensor<2xf32>
  // CHECK: "flow.dispatch"{{.*}}@cq_conv2d_w4a8_i8], operandSegmentSizes = array<i32: 1, 5, 0, 0>
  %2 = conquer.conv2d %q, %w4, %bi, %m {dilation = array<i64: 1, 1>, input_zp = 3 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xi8>, tensor<2x1x1x2xi4>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x4x4x2xi8>
  // Depthwise weights of channels c and c + 8 share a byte: two channels of -7 in 8 bytes a tap.
  // CHECK: values = dense<[9, 9, 0, 0, 0, 0, 0, 0]> : tensor<8xi8>
  %wd4 = "tosa.const"() <{values = dense<-7> : tensor<1x1x2x1xi4>}> : () -> tensor<1x1x2x1xi4>
  // CHECK: @cq_depthwise_w4a8_f32]
  %3 = conquer.depthwise_conv2d %2, %wd4, %bi, %m {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xi8>, tensor<1x1x2x1xi4>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  return %1, %3 : tensor<1x4x4x2xbf16>, tensor<1x4x4x2xf32>
}
