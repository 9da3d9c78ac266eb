// RUN: conquer-opt %s --conquer-prepare-pipeline="profile=x86-64 profile-dir=%profiles layers=%t.json" -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: conquer-opt %t.mlir --conquer-prepare-pipeline="profile=x86-64 profile-dir=%profiles layers=%t.again.json" -o %t.again.mlir
// RUN: diff %t.mlir %t.again.mlir
// RUN: diff %t.json %t.again.json

// A block as torch-mlir writes it: N, C, H, W, explicit padding, batch norm, ReLU6, flattening, fully connected.

// JSON: {"id":"image","shape":[1,1,4,4]}
// JSON: {"id":"output_0","shape":[1,2]}
// JSON: {"id":"conv",{{.*}}"pad":[1,0,1,0]{{.*}}"signature":"conv2d_4x4x1_k2x3x3_s2x2_d1x1_p1.0.1.0","precisions":["f32","bf16","i8","w4a8"]}
// JSON: {"id":"fc","op":"conv2d",{{.*}}"weight_shape":[2,1,1,8],{{.*}}"precisions":["f32","bf16","i8","w4a8"]}
// JSON: {"from":"image","to":"conv","elements":16}
// JSON: {"from":"conv","to":"fc","elements":8}
// JSON: {"from":"fc","to":"output_0","elements":2}

// CHECK: func.func @main(%[[X:.*]]: tensor<1x1x4x4xf32> {conquer.id = "image"}) -> (tensor<1x2xf32> {conquer.id = "output_0"})
// CHECK-DAG: dense<[1.500000e+00, -1.000000e+00]> : tensor<2xf32>
// CHECK-DAG: dense<[7.000000e+00, 8.000000e+00]> : tensor<2xf32>
// CHECK: %[[R:.*]] = tosa.reshape %[[X]], {{.*}} {conquer.id = "{{.*}}"}
// CHECK-NEXT: %[[C:.*]] = tosa.conv2d %[[R]], {{.*}} conquer.id = "conv", {{.*}} pad = array<i64: 1, 0, 1, 0>
// CHECK-NEXT: %[[K:.*]] = tosa.clamp %[[C]] {conquer.id = "relu", max_val = 6.000000e+00 : f32, min_val = 0.000000e+00 : f32}
// CHECK-NEXT: %[[F:.*]] = tosa.reshape %[[K]]
// CHECK-NEXT: %[[M:.*]] = tosa.conv2d %[[F]], {{.*}} conquer.id = "fc"
// CHECK-NEXT: %[[Y:.*]] = tosa.reshape %[[M]]
// CHECK-NEXT: return %[[Y]]
func.func @forward(%x: tensor<1x1x4x4xf32> loc("image")) -> tensor<1x2xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %w = "tosa.const"() {values = dense<1.0> : tensor<2x3x3x1xf32>} : () -> tensor<2x3x3x1xf32>
  %b = "tosa.const"() {values = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %var = "tosa.const"() {values = dense<[[[[4.0]], [[1.0]]]]> : tensor<1x2x1x1xf32>} : () -> tensor<1x2x1x1xf32>
  %beta = "tosa.const"() {values = dense<[[[[1.0]], [[-3.0]]]]> : tensor<1x2x1x1xf32>} : () -> tensor<1x2x1x1xf32>
  %zero = "tosa.const"() {values = dense<0.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %six = "tosa.const"() {values = dense<6.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %m = "tosa.const"() {values = dense<1.0> : tensor<1x8x2xf32>} : () -> tensor<1x8x2xf32>
  %fcbias = "tosa.const"() {values = dense<[[7.0, 8.0]]> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
  %p = tosa.const_shape {values = dense<[0, 0, 0, 0, 1, 1, 1, 1]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %start = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 1, 5, 5]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %s3 = tosa.const_shape {values = dense<[1, 1, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %s2 = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %rsqrt = tosa.rsqrt %var : (tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %0 = tosa.pad %x, %p, %z : (tensor<1x1x4x4xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x1x6x6xf32> loc("pad")
  %1 = tosa.slice %0, %start, %size : (tensor<1x1x6x6xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x1x5x5xf32> loc("conv")
  %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x1x5x5xf32>) -> tensor<1x5x5x1xf32> loc("conv")
  %3 = tosa.conv2d %2, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x5x5x1xf32>, tensor<2x3x3x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32> loc("conv")
  %4 = tosa.transpose %3 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> loc("conv")
  %5 = tosa.mul %4, %rsqrt, %shift : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32> loc("bn")
  %6 = tosa.add %5, %beta : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x2x2xf32> loc("bn")
  %7 = tosa.maximum %6, %zero : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x2x2xf32> loc("relu")
  %8 = tosa.minimum %7, %six : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x2x2xf32> loc("relu")
  %9 = tosa.reshape %8, %s3 : (tensor<1x2x2x2xf32>, !tosa.shape<3>) -> tensor<1x1x8xf32> loc("flatten")
  %10 = tosa.matmul %9, %m, %z, %z : (tensor<1x1x8xf32>, tensor<1x8x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32> loc("fc")
  %11 = tosa.reshape %10, %s2 : (tensor<1x1x2xf32>, !tosa.shape<2>) -> tensor<1x2xf32> loc("fc")
  %12 = tosa.add %11, %fcbias : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc("fc.bias")
  %unused = tosa.exp %x : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  return %12 : tensor<1x2xf32>
}
