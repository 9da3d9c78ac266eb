// RUN: conquer-opt %s --split-input-file --verify-diagnostics --conquer-verify-quantized="profile=x86-64 profile-dir=%profiles"

func.func @no_layer(%a: tensor<1x2x3xf32>, %b: tensor<1x3x2xf32>, %zp: tensor<1xf32>) -> tensor<1x2x2xf32> {
  // expected-error@+1 {{layer without conquer.layer, expected quantised IR}}
  %0 = tosa.matmul %a, %b, %zp, %zp {conquer.id = "fc", conquer.precision = "f32"} : (tensor<1x2x3xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  return %0 : tensor<1x2x2xf32>
}

// -----

func.func @twice(%a: tensor<1x2x2xf32>, %b: tensor<1x2x2xf32>, %zp: tensor<1xf32>) -> tensor<1x2x2xf32> {
  // expected-note@+1 {{the first is here}}
  %0 = tosa.matmul %a, %b, %zp, %zp {conquer.layer = "fc", conquer.precision = "f32"} : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  // expected-error@+1 {{conquer.layer 'fc' occurs twice}}
  %1 = tosa.matmul %0, %b, %zp, %zp {conquer.layer = "fc", conquer.precision = "f32"} : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  return %1 : tensor<1x2x2xf32>
}

// -----

func.func @no_precision(%a: tensor<1x2x2xf32>, %zp: tensor<1xf32>) -> tensor<1x2x2xf32> {
  // expected-error@+1 {{layer 'fc' has no known conquer.precision}}
  %0 = tosa.matmul %a, %a, %zp, %zp {conquer.layer = "fc", conquer.precision = "i3"} : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  return %0 : tensor<1x2x2xf32>
}

// -----

func.func @illegal(%a: tensor<1x2x2xf32>, %zp: tensor<1xf32>) -> tensor<1x2x2xf32> {
  // expected-error@+1 {{layer 'fc': matmul cannot run in i8 on profile 'x86-64'}}
  %0 = tosa.matmul %a, %a, %zp, %zp {conquer.layer = "fc", conquer.precision = "i8"} : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  return %0 : tensor<1x2x2xf32>
}

// -----

func.func @types(%x: tensor<1x4x4x1xf32>, %w: tensor<2x1x1x1xf32>, %b: tensor<2xf32>, %zp: tensor<1xf32>) -> tensor<1x4x4x2xf32> {
  // expected-error@+1 {{layer 'c' is tosa.conv2d on types that are not those of precision i8}}
  %0 = tosa.conv2d %x, %w, %b, %zp, %zp {conquer.layer = "c", conquer.precision = "i8", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}

// -----

func.func @no_scale(%x: tensor<1x4xi32>) -> tensor<1x4xi32> {
  // expected-error@+1 {{'y' is i8 without conquer.scale and conquer.zero_point}}
  %0 = tosa.cast %x {conquer.id = "y"} : (tensor<1x4xi32>) -> tensor<1x4xi8>
  return %x : tensor<1x4xi32>
}

// -----

// expected-error@+1 {{function takes or gives 'tensor<1x4xi8>', expected f32}}
func.func @signature(%x: tensor<1x4xi8>) -> tensor<1x4xi8> {
  return %x : tensor<1x4xi8>
}
