// Fused ops become dispatches; ops that call the same kernel share one export.
// RUN: conquer-opt %s --conquer-lower-kernels="profile=x86-64 profile-dir=%profiles" --mlir-print-op-generic | FileCheck %s

// CHECK: "stream.executable"()
// CHECK: "stream.executable.export"()
// CHECK-NEXT: ^bb0(%[[N:.*]]: index):
// CHECK: "stream.return"(%[[N]], %[[ONE:.*]], %[[ONE]])
// CHECK: sym_name = "cq_conv2d_i8_i8"
// CHECK-NOT: sym_name = "cq_conv2d_i8_i8"
// CHECK: sym_name = "cq_conv2d_i8_i8_portable"
// CHECK: {hal.import.static, llvm.bareptr = true}
// CHECK: "hal.interface.workgroup.id"() {dimension = 0 : index}
// CHECK: "hal.interface.workgroup.count"() {dimension = 0 : index}
// CHECK: "func.call"{{.*}}callee = @cq_conv2d_i8_i8_portable
// CHECK: sym_name = "cq_depthwise_i8_f32_portable"
// CHECK: path = "cq_portable.o"

// CHECK: sym_name = "main"
func.func @main(%x: tensor<1x4x4x2xi8>) -> tensor<1x4x4x2xf32> {
  %w = "tosa.const"() <{values = dense<[[[[1, 2]]], [[[3, 4]]]]> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %b = "tosa.const"() <{values = dense<[5, 6]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %m = "tosa.const"() <{values = dense<0.5> : tensor<2xf32>}> : () -> tensor<2xf32>
  %wd = "tosa.const"() <{values = dense<7> : tensor<3x3x2x1xi8>}> : () -> tensor<3x3x2x1xi8>
  // How the level packs weights and bias is its own affair.
  // CHECK: %[[COUNT:.*]] = "arith.constant"() <{value = 1 : index}>
  // CHECK: %[[W:.*]] = "tosa.const"() <{values = dense<{{.*}}> : tensor<{{[0-9]+}}xi8>}>
  // CHECK: %[[B:.*]] = "tosa.const"() <{values = dense<{{.*}}> : tensor<2xi32>}>
  // CHECK: %[[M:.*]] = "tosa.const"() <{values = dense<5.000000e-01> : tensor<2xf32>}>
  // CHECK: %[[P:.*]] = "tosa.const"() <{values = dense<[1, 4, 4, 2, 4, 4, 2, 1, 1, 1, 1, 1, 1, 0, 0, -3, 4, -128, 127, -8388609, 2139095039]> : tensor<21xi32>}>
  // CHECK: %[[Y:.*]] = "flow.dispatch"(%[[COUNT]], %{{.*}}, %[[W]], %[[B]], %[[M]], %[[P]])
  // CHECK-SAME: entry_points = [@cq_kernels::@cq_conv2d_i8_i8]
  // CHECK-SAME: operandSegmentSizes = array<i32: 1, 5, 0, 0>
  // CHECK-SAME: tied_operands = [-1 : index]
  %0 = conquer.conv2d %x, %w, %b, %m {dilation = array<i64: 1, 1>, input_zp = -3 : i32, output_zp = 4 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x4x4x2xi8>
  // CHECK: "flow.dispatch"(%{{.*}}, %[[Y]],
  // CHECK-SAME: @cq_conv2d_i8_i8]
  %1 = conquer.conv2d %0, %w, %b, %m {dilation = array<i64: 1, 1>, input_zp = 4 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x4x4x2xi8>
  // CHECK: dense<[1, 4, 4, 2, 4, 4, 2, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0, -128, 127, 0, 1086324736]>
  // CHECK: "flow.dispatch"
  // CHECK-SAME: @cq_depthwise_i8_f32]
  %2 = conquer.depthwise_conv2d %1, %wd, %b, %m {clamp_min_f32 = 0.0 : f32, clamp_max_f32 = 6.0 : f32, dilation = array<i64: 1, 1>, input_zp = 0 : i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xi8>, tensor<3x3x2x1xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  return %2 : tensor<1x4x4x2xf32>
}
