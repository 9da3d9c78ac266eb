// The contract of the fuse stage: what has no kernel is an error; a convolution that stayed in TOSA is explained.
// RUN: sed -e 's/"conv2d": {"f32": "iree", .*}/"conv2d": {"f32": "iree"}/' -e 's/"depthwise_conv2d": {"f32": "iree", "bf16": "kernel"/"depthwise_conv2d": {"f32": "iree"/' -e 's/"x86-64"/"no-conv"/' %profiles/x86-64.json > %t.json
// RUN: conquer-opt %s --split-input-file --verify-diagnostics --conquer-verify-fused="profile=%t.json" -o /dev/null

func.func @no_kernel(%x: tensor<1x1x1x2xi8>, %w: tensor<2x1x1x2xi8>, %b: tensor<2xi32>, %m: tensor<2xf32>) -> tensor<1x1x1x2xi8> {
  // expected-error @+1 {{profile 'no-conv' has no i8 kernel for 'conv2d', expected one for every fused op; fuse and lower with the same profile}}
  %0 = conquer.conv2d %x, %w, %b, %m {dilation = array<i64: 1, 1>, input_zp = 0 : i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<2x1x1x2xi8>, tensor<2xi32>, tensor<2xf32>) -> tensor<1x1x1x2xi8>
  return %0 : tensor<1x1x1x2xi8>
}

// -----

func.func @depth_multiplier(%x: tensor<1x1x1x2xi8>, %w: tensor<1x1x2x2xi8>, %b: tensor<4xi32>, %zero: tensor<1xi8>) -> tensor<1x1x1x4xi32> {
  // expected-remark @+1 {{i8 layer 'dw' stays without a kernel: its depth multiplier is not 1}}
  %0 = tosa.depthwise_conv2d %x, %w, %b, %zero, %zero {conquer.id = "dw", acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xi8>, tensor<1x1x2x2xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x4xi32>
  return %0 : tensor<1x1x1x4xi32>
}

// -----

func.func @no_bf16_kernel(%x: tensor<1x1x1x2xbf16>, %w: tensor<1x1x2x1xbf16>, %b: tensor<2xf32>) -> tensor<1x1x1x2xbf16> {
  // expected-error @+1 {{profile 'no-conv' has no bf16 kernel for 'depthwise_conv2d'}}
  %0 = conquer.depthwise_conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xbf16>, tensor<1x1x2x1xbf16>, tensor<2xf32>) -> tensor<1x1x1x2xbf16>
  return %0 : tensor<1x1x1x2xbf16>
}
