// What the verifiers of the fused ops refuse.
// RUN: conquer-opt %s --split-input-file --verify-diagnostics -o /dev/null

func.func @mixed_types(%x: tensor<1x1x1x2xbf16>, %w: tensor<2x1x1x2xi8>, %b: tensor<2xf32>) -> tensor<1x1x1x2xbf16> {
  // expected-error @+1 {{expected i8 input, i8 or i4 weights, i32 bias, multipliers and an i8 or f32 result, or bf16 input, weights and result, f32 bias and no multipliers}}
  %0 = conquer.conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xbf16>, tensor<2x1x1x2xi8>, tensor<2xf32>) -> tensor<1x1x1x2xbf16>
  return %0 : tensor<1x1x1x2xbf16>
}

// -----

func.func @integers_without_multiplier(%x: tensor<1x1x1x2xi8>, %w: tensor<2x1x1x2xi4>, %b: tensor<2xi32>) -> tensor<1x1x1x2xi8> {
  // expected-error @+1 {{expected i8 input, i8 or i4 weights, i32 bias, multipliers}}
  %0 = conquer.conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi4>, tensor<2xi32>) -> tensor<1x1x1x2xi8>
  return %0 : tensor<1x1x1x2xi8>
}

// -----

func.func @zero_point_of_floats(%x: tensor<1x1x1x2xbf16>, %w: tensor<1x1x2x1xbf16>, %b: tensor<2xf32>) -> tensor<1x1x1x2xbf16> {
  // expected-error @+1 {{expected i8 input}}
  %0 = conquer.depthwise_conv2d %x, %w, %b {dilation = array<i64: 1, 1>, input_zp = 3 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xbf16>, tensor<1x1x2x1xbf16>, tensor<2xf32>) -> tensor<1x1x1x2xbf16>
  return %0 : tensor<1x1x1x2xbf16>
}

// -----

func.func @biases(%x: tensor<1x1x1x2xbf16>, %w: tensor<2x1x1x2xbf16>, %b: tensor<3xf32>) -> tensor<1x1x1x2xbf16> {
  // expected-error @+1 {{expected one bias and one multiplier for each of 2 output channels}}
  %0 = conquer.conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xbf16>, tensor<2x1x1x2xbf16>, tensor<3xf32>) -> tensor<1x1x1x2xbf16>
  return %0 : tensor<1x1x1x2xbf16>
}

// -----

func.func @result_shape(%x: tensor<1x4x4x2xbf16>, %w: tensor<2x3x3x2xbf16>, %b: tensor<2xf32>) -> tensor<1x4x4x2xbf16> {
  // expected-error @+1 {{result shape does not follow from the operands, expected 'tensor<1x2x2x2xbf16>'}}
  %0 = conquer.conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xbf16>, tensor<2x3x3x2xbf16>, tensor<2xf32>) -> tensor<1x4x4x2xbf16>
  return %0 : tensor<1x4x4x2xbf16>
}

// -----

func.func @clamp_code(%x: tensor<1x1x1x2xi8>, %w: tensor<2x1x1x2xi8>, %b: tensor<2xi32>, %m: tensor<2xf32>) -> tensor<1x1x1x2xi8> {
  // expected-error @+1 {{zero point or clamp is 128, expected -128 to 127}}
  %0 = conquer.conv2d %x, %w, %b, %m {clamp_max = 128 : i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x1x1x2xi8>
  return %0 : tensor<1x1x1x2xi8>
}
