// RUN: conquer-opt %s --split-input-file --conquer-check-input | FileCheck %s

// Indices (i32) and conditions (i1) are not quantised activations.
// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
  %0 = tosa.greater %arg0, %arg0 : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xi1>
  %1 = tosa.select %0, %arg0, %arg0 : (tensor<1x4x4xi1>, tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return %1 : tensor<1x4x4xf32>
}

// -----

// Producers name the function as they like.
// CHECK-LABEL: func.func @main_graph
func.func @main_graph(%arg0: tensor<1xf32>) -> tensor<1xf32> {
  return %arg0 : tensor<1xf32>
}
