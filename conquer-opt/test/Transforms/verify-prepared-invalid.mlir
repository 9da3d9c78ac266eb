// RUN: conquer-opt %s --split-input-file --verify-diagnostics --conquer-verify-prepared

// expected-error@+1 {{input 0 has no conquer.id}}
func.func @main(%arg0: tensor<1xf32>) -> (tensor<1xf32> {conquer.id = "y"}) {
  return %arg0 : tensor<1xf32>
}

// -----

// expected-error@+1 {{output 0 has no conquer.id}}
func.func @main(%arg0: tensor<1xf32> {conquer.id = "x"}) -> tensor<1xf32> {
  return %arg0 : tensor<1xf32>
}

// -----

func.func @main(%arg0: tensor<1xf32> {conquer.id = "x"}) -> (tensor<1xf32> {conquer.id = "y"}) {
  // expected-error@+1 {{tosa.abs has no conquer.id}}
  %0 = tosa.abs %arg0 : (tensor<1xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

func.func @main(%arg0: tensor<1xf32> {conquer.id = "x"}) -> (tensor<1xf32> {conquer.id = "y"}) {
  // expected-error@+1 {{tosa.abs has the conquer.id 'x', which an earlier one has; expected unique ids}}
  %0 = tosa.abs %arg0 {conquer.id = "x"} : (tensor<1xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

func.func @main(%arg0: tensor<3x1x1x2xf32> {conquer.id = "x"}) -> (tensor<3x1x1x3xf32> {conquer.id = "y"}) {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %b = "tosa.const"() {values = dense<1.0> : tensor<3xf32>} : () -> tensor<3xf32>
  // expected-error@+1 {{the weights, bias or zero points of layer 'c' are computed, expected constants}}
  %0 = tosa.conv2d %arg0, %arg0, %b, %z, %z {conquer.id = "c", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<3x1x1x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3x1x1x3xf32>
  return %0 : tensor<3x1x1x3xf32>
}

// -----

// The input check still holds.
func.func @main(%arg0: tensor<1xf32> {conquer.id = "x"}) -> (tensor<1xf32> {conquer.id = "y"}) {
  // expected-error@+2 {{op 'arith.addf' is not a TOSA op}}
  // expected-note@+1 {{lower the model to TOSA first}}
  %0 = arith.addf %arg0, %arg0 : tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

func.func @main(%arg0: tensor<1x4x4x4xf32> {conquer.id = "x"}) -> (tensor<1x4x4x4xf32> {conquer.id = "y"}) {
  %0 = tosa.exp %arg0 {conquer.id = "a"} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  // expected-warning@+1 {{an image changes its layout between two ops that read N, H, W, C; this costs time}}
  %1 = tosa.transpose %0 {conquer.id = "b", perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %2 = tosa.max_pool2d %1 {conquer.id = "c", kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %2 : tensor<1x4x4x4xf32>
}

// -----

func.func @main(%arg0: tensor<1x4x4x4xf32> {conquer.id = "x"}) -> (tensor<1x4x4x4xf32> {conquer.id = "y"}) {
  %0 = tosa.transpose %arg0 {conquer.id = "a", perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  // expected-error@+1 {{transpose of a transpose, expected one}}
  %1 = tosa.transpose %0 {conquer.id = "b", perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %1 : tensor<1x4x4x4xf32>
}
