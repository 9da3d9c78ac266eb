// RUN: conquer-opt %s --split-input-file --verify-diagnostics --conquer-verify-lowered -o /dev/null

func.func @fused(%x: tensor<1x1x1x2xi8>, %w: tensor<2x1x1x2xi8>, %b: tensor<2xi32>, %m: tensor<2xf32>) -> tensor<1x1x1x2xi8> {
  // expected-error @+1 {{IREE does not know 'conquer.conv2d', expected only func, tosa, arith and kernel dispatches}}
  %0 = conquer.conv2d %x, %w, %b, %m {dilation = array<i64: 1, 1>, input_zp = 0 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x1x1x2xi8>
  return %0 : tensor<1x1x1x2xi8>
}

// -----

func.func @narrow() {
  // expected-error @+1 {{value of type 'tensor<2xi4>', expected no i4 and no i48: IREE computes them wrongly on some targets}}
  %0 = "tosa.const"() <{values = dense<1> : tensor<2xi4>}> : () -> tensor<2xi4>
  return
}
