// RUN: conquer-opt %s --split-input-file --verify-diagnostics --conquer-lower-kernels="profile=x86-64 profile-dir=%profiles" -o /dev/null
// RUN: sed -e 's/"portable"/"avx1024"/' %profiles/x86-64.json > %t.json
// RUN: not conquer-opt %s --split-input-file --conquer-lower-kernels="profile=%t.json" 2>&1 | FileCheck %s
// RUN: sed -e 's/"portable"/"avx512vnni"/' %profiles/x86-64.json > %t.features.json
// RUN: not conquer-opt %s --split-input-file --conquer-lower-kernels="profile=%t.features.json" 2>&1 | FileCheck %s --check-prefix=FEATURES
// FEATURES: features: '{{.*}}' is missing, which the kernel level 'avx512vnni' needs
// CHECK: names the kernel level 'avx1024', which this build does not have; rebuild for it or pick another profile

func.func @variable_weights(%x: tensor<1x1x1x2xi8>, %w: tensor<2x1x1x2xi8>) -> tensor<1x1x1x2xi8> {
  %b = "tosa.const"() <{values = dense<7> : tensor<2xi32>}> : () -> tensor<2xi32>
  %m = "tosa.const"() <{values = dense<0.5> : tensor<2xf32>}> : () -> tensor<2xf32>
  // expected-error @+1 {{'conquer.conv2d' op has weights that are not constant, expected a tosa.const}}
  %0 = conquer.conv2d %x, %w, %b, %m {dilation = array<i64: 1, 1>, input_zp = 0 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x1x1x2xi8>
  return %0 : tensor<1x1x1x2xi8>
}

// -----

func.func @variable_bias(%x: tensor<1x1x1x2xi8>, %b: tensor<2xi32>) -> tensor<1x1x1x2xi8> {
  %w = "tosa.const"() <{values = dense<2> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %m = "tosa.const"() <{values = dense<0.5> : tensor<2xf32>}> : () -> tensor<2xf32>
  // expected-error @+1 {{'conquer.conv2d' op has biases that are not constant, expected a tosa.const}}
  %0 = conquer.conv2d %x, %w, %b, %m {dilation = array<i64: 1, 1>, input_zp = 0 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x1x1x2xi8>
  return %0 : tensor<1x1x1x2xi8>
}

// -----

func.func @no_w4a8_kernel(%x: tensor<1x1x1x2xi8>) -> tensor<1x1x1x2xi32> {
  %w = "tosa.const"() <{values = dense<2> : tensor<2x1x1x2xi4>}> : () -> tensor<2x1x1x2xi4>
  %b = "tosa.const"() <{values = dense<7> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero4 = "tosa.const"() <{values = dense<0> : tensor<1xi4>}> : () -> tensor<1xi4>
  // expected-error @+1 {{w4a8 layer 'a' has no kernel: the accumulator is not followed by a cast to f32 and a mul alone; expected a kernel, because IREE computes i4 and i48 wrongly on some targets; give the layer another precision}}
  %0 = tosa.conv2d %x, %w, %b, %zero, %zero4 {conquer.layer = "a", acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi4>, tensor<2xi32>, tensor<1xi8>, tensor<1xi4>) -> tensor<1x1x1x2xi32>
  return %0 : tensor<1x1x1x2xi32>
}

// -----

func.func @no_w8a16_kernel(%x: tensor<1x1x1x2xi16>) -> tensor<1x1x1x2xi48> {
  %w = "tosa.const"() <{values = dense<2> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
  %b = "tosa.const"() <{values = dense<7> : tensor<2xi48>}> : () -> tensor<2xi48>
  %zero16 = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @+1 {{w8a16 layer 'b' has no kernel: there is none for its kind and precision}}
  %0 = tosa.conv2d %x, %w, %b, %zero16, %zero {conquer.id = "b", acc_type = i48, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi16>, tensor<2x1x1x2xi8>, tensor<2xi48>, tensor<1xi16>, tensor<1xi8>) -> tensor<1x1x1x2xi48>
  return %0 : tensor<1x1x1x2xi48>
}
