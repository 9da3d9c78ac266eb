// Quantised TOSA to what iree-compile reads: generic text on request, else bytecode.
// RUN: conquer-opt %s --conquer-fuse-pipeline="profile=x86-64 profile-dir=%profiles" --conquer-lower-pipeline="profile=x86-64 profile-dir=%profiles" --mlir-print-op-generic | FileCheck %s
// RUN: conquer-opt %s --conquer-fuse-pipeline="profile=x86-64 profile-dir=%profiles" --conquer-lower-pipeline="profile=x86-64 profile-dir=%profiles" -o %t.mlirbc
// RUN: conquer-opt %t.mlirbc --mlir-print-op-generic | FileCheck %s

// CHECK: "stream.executable"
// CHECK: sym_name = "main"
// CHECK-NOT: conquer.
// The unpacked weights are gone.
// CHECK-NOT: tensor<2x1x1x2xi8>
// CHECK: "flow.dispatch"
// CHECK-NOT: "tosa.cast"
// CHECK: "func.return"
module attributes {tosa.target_env = #tosa.target_env<specification_version = "1.0", level = "8k", profiles = [pro_int], extensions = [int4]>} {
  func.func @main(%x: tensor<1x1x1x2xi8> {conquer.id = "image"}) -> tensor<1x1x1x2xi8> {
    %w = "tosa.const"() <{values = dense<2> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
    %b = "tosa.const"() <{values = dense<7> : tensor<2xi32>}> : () -> tensor<2xi32>
    %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %m = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %zp = "tosa.const"() <{values = dense<-8> : tensor<1x1x1x1xi32>}> : () -> tensor<1x1x1x1xi32>
    %0 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, conquer.id = "conv"} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x2xi32>
    %1 = tosa.cast %0 : (tensor<1x1x1x2xi32>) -> tensor<1x1x1x2xf32>
    %2 = tosa.mul %1, %m, %zero : (tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1x2xf32>
    %3 = tosa.clamp %2 {min_val = -120.0 : f32, max_val = 135.0 : f32} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
    %4 = tosa.cast %3 : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xi32>
    %5 = tosa.add %4, %zp : (tensor<1x1x1x2xi32>, tensor<1x1x1x1xi32>) -> tensor<1x1x1x2xi32>
    %6 = tosa.cast %5 {conquer.id = "conv"} : (tensor<1x1x1x2xi32>) -> tensor<1x1x1x2xi8>
    return %6 : tensor<1x1x1x2xi8>
  }
}
