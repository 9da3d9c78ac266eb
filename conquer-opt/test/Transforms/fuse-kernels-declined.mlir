// Each reason for which a convolution stays in TOSA.
// RUN: conquer-opt %s --split-input-file --verify-diagnostics --conquer-fuse-pipeline="profile=x86-64 profile-dir=%profiles" -o /dev/null

func.func @variable_weights(%x: tensor<1x1x1x2xi8>, %w: tensor<2x1x1x2xi8>) -> tensor<1x1x1x2xi32> {
  %b = "tosa.const"() <{values = dense<7> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-remark @+1 {{i8 layer 'a' stays without a kernel: the weights are not constant}}
  %0 = tosa.conv2d %x, %w, %b, %zero, %zero {conquer.id = "a", acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x2xi32>
  return %0 : tensor<1x1x1x2xi32>
}

// -----

func.func @variable_bias(%x: tensor<1x1x1x2xi8>, %b: tensor<2xi32>) -> tensor<1x1x1x2xi32> {
  %w = "tosa.const"() <{values = dense<2> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-remark @+1 {{i8 layer 'a' stays without a kernel: the bias is not constant}}
  %0 = tosa.conv2d %x, %w, %b, %zero, %zero {conquer.id = "a", acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x2xi32>
  return %0 : tensor<1x1x1x2xi32>
}

// -----

func.func @weight_zero_point(%x: tensor<1x1x1x2xi8>) -> tensor<1x1x1x2xi32> {
  %w = "tosa.const"() <{values = dense<2> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %b = "tosa.const"() <{values = dense<7> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %one = "tosa.const"() <{values = dense<1> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-remark @+1 {{i8 layer 'a' stays without a kernel: the zero point of the weights is not 0}}
  %0 = tosa.conv2d %x, %w, %b, %zero, %one {conquer.id = "a", acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x2xi32>
  return %0 : tensor<1x1x1x2xi32>
}

// -----

func.func @variable_zero_point(%x: tensor<1x1x1x2xi8>, %zp: tensor<1xi8>) -> tensor<1x1x1x2xi32> {
  %w = "tosa.const"() <{values = dense<2> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %b = "tosa.const"() <{values = dense<7> : tensor<2xi32>}> : () -> tensor<2xi32>
  // expected-remark @+1 {{i8 layer 'a' stays without a kernel: a zero point is not constant}}
  %0 = tosa.conv2d %x, %w, %b, %zp, %zp {conquer.id = "a", acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x2xi32>
  return %0 : tensor<1x1x1x2xi32>
}

// -----

func.func @shared_accumulator(%x: tensor<1x1x1x2xi8>) -> (tensor<1x1x1x2xf32>, tensor<1x1x1x2xi32>) {
  %w = "tosa.const"() <{values = dense<2> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %b = "tosa.const"() <{values = dense<7> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  // expected-remark @+1 {{i8 layer 'a' stays without a kernel: the accumulator is not followed by a cast to f32 and a mul alone}}
  %0 = tosa.conv2d %x, %w, %b, %zero, %zero {conquer.id = "a", acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x2xi32>
  %1 = tosa.cast %0 : (tensor<1x1x1x2xi32>) -> tensor<1x1x1x2xf32>
  %2 = tosa.mul %1, %m, %zero : (tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1x2xf32>
  return %2, %0 : tensor<1x1x1x2xf32>, tensor<1x1x1x2xi32>
}

// -----

func.func @factor_per_pixel(%x: tensor<1x2x1x2xi8>) -> tensor<1x2x1x2xf32> {
  %w = "tosa.const"() <{values = dense<2> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %b = "tosa.const"() <{values = dense<7> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = "tosa.const"() <{values = dense<[[[[0.5]], [[0.25]]]]> : tensor<1x2x1x1xf32>}> : () -> tensor<1x2x1x1xf32>
  // expected-remark @+1 {{i8 layer 'a' stays without a kernel: the accumulator is not multiplied by a constant per channel}}
  %0 = tosa.conv2d %x, %w, %b, %zero, %zero {conquer.id = "a", acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x1x2xi32>
  %1 = tosa.cast %0 : (tensor<1x2x1x2xi32>) -> tensor<1x2x1x2xf32>
  %2 = tosa.mul %1, %m, %zero : (tensor<1x2x1x2xf32>, tensor<1x2x1x1xf32>, tensor<1xi8>) -> tensor<1x2x1x2xf32>
  return %2 : tensor<1x2x1x2xf32>
}

// -----

func.func @huge_multiplier(%x: tensor<1x1x1x2xi8>) -> tensor<1x1x1x2xf32> {
  %w = "tosa.const"() <{values = dense<2> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %b = "tosa.const"() <{values = dense<7> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = "tosa.const"() <{values = dense<1.0e30> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  // expected-remark @+1 {{i8 layer 'a' stays without a kernel: a multiplier is not finite or too large}}
  %0 = tosa.conv2d %x, %w, %b, %zero, %zero {conquer.id = "a", acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x2xi32>
  %1 = tosa.cast %0 : (tensor<1x1x1x2xi32>) -> tensor<1x1x1x2xf32>
  %2 = tosa.mul %1, %m, %zero : (tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1x2xf32>
  return %2 : tensor<1x1x1x2xf32>
}

// -----

func.func @wide_result(%x: tensor<1x1x1x2xbf16>) -> tensor<1x1x1x2xf32> {
  %w = "tosa.const"() <{values = dense<2.0> : tensor<2x1x1x2xbf16>}> : () -> tensor<2x1x1x2xbf16>
  %b = "tosa.const"() <{values = dense<7.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xbf16>}> : () -> tensor<1xbf16>
  // expected-remark @+1 {{bf16 layer 'a' stays without a kernel: its result is not bf16}}
  %0 = tosa.conv2d %x, %w, %b, %zero, %zero {conquer.id = "a", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xbf16>, tensor<2x1x1x2xbf16>, tensor<2xf32>, tensor<1xbf16>, tensor<1xbf16>) -> tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}
