// RUN: conquer-opt %s --split-input-file --conquer-assign-ids | FileCheck %s
// RUN: conquer-opt %s --split-input-file --conquer-assign-ids --conquer-assign-ids | FileCheck %s

// A node that became several ops: its layer has the plain name, wherever it stands. Constants have no id.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %{{.*}}: tensor<1x4x4x2xf32> {conquer.id = "image"})
// CHECK-SAME: -> (tensor<1x4x4x3xf32> {conquer.id = "output_0"})
func.func @graph(%arg0: tensor<1x4x4x2xf32> loc("image")) -> tensor<1x4x4x3xf32> {
  // CHECK-NOT: conquer.id
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32> loc("/conv/Conv")
  %w = "tosa.const"() {values = dense<1.0> : tensor<3x1x1x2xf32>} : () -> tensor<3x1x1x2xf32> loc("/conv/Conv")
  %b = "tosa.const"() {values = dense<1.0> : tensor<3xf32>} : () -> tensor<3xf32> loc("/conv/Conv")
  // CHECK: tosa.abs {{.*}} {conquer.id = "/conv/Conv#2"}
  %0 = tosa.abs %arg0 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> loc("/conv/Conv")
  // CHECK: tosa.conv2d {{.*}} conquer.id = "/conv/Conv",
  %1 = tosa.conv2d %0, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32> loc("/conv/Conv")
  // CHECK: tosa.abs {{.*}} {conquer.id = "/conv/Conv#3"}
  %2 = tosa.abs %1 : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32> loc("/conv/Conv")
  return %2 : tensor<1x4x4x3xf32>
}

// -----

// Names hide in other locations; without one, ops are counted per kind. A name may look like a repetition.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: {conquer.id = "input_0"}
func.func @main(%arg0: tensor<1xf32>) -> tensor<1xf32> {
  // CHECK: tosa.abs {{.*}} {conquer.id = "a"}
  %0 = tosa.abs %arg0 : (tensor<1xf32>) -> tensor<1xf32> loc(fused["f.onnx":1:2, "a"])
  // CHECK: tosa.abs {{.*}} {conquer.id = "a#2"}
  %1 = tosa.abs %0 : (tensor<1xf32>) -> tensor<1xf32> loc("a#2")
  // CHECK: tosa.abs {{.*}} {conquer.id = "a#3"}
  %2 = tosa.abs %1 : (tensor<1xf32>) -> tensor<1xf32> loc(callsite("f.py":1:2 at "a"))
  // CHECK: tosa.abs {{.*}} {conquer.id = "abs_0"}
  %3 = tosa.abs %2 : (tensor<1xf32>) -> tensor<1xf32> loc(unknown)
  // CHECK: tosa.exp {{.*}} {conquer.id = "exp_0"}
  %4 = tosa.exp %3 : (tensor<1xf32>) -> tensor<1xf32> loc("f.py":1:2)
  // CHECK: tosa.abs {{.*}} {conquer.id = "abs_1"}
  %5 = tosa.abs %4 : (tensor<1xf32>) -> tensor<1xf32> loc(unknown)
  return %5 : tensor<1xf32>
}

// -----

// Ids that are there stay, repetitions of them do not.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: {conquer.id = "x"}
// CHECK-SAME: {conquer.id = "y"}
func.func @main(%arg0: tensor<1xf32> {conquer.id = "x"}) -> (tensor<1xf32> {conquer.id = "y"}) {
  // CHECK: tosa.abs {{.*}} {conquer.id = "b#2"}
  %0 = tosa.abs %arg0 {conquer.id = "x"} : (tensor<1xf32>) -> tensor<1xf32> loc("b")
  // CHECK: tosa.abs {{.*}} {conquer.id = "b"}
  %1 = tosa.abs %0 {conquer.id = "b"} : (tensor<1xf32>) -> tensor<1xf32> loc("other")
  return %1 : tensor<1xf32>
}
