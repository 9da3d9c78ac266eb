// The modules with bf16 and w4a8 kernels give the very bytes of the module that IREE makes from the TOSA form, in which i4 weights are
// widened to i8. The bf16 numbers are small whole ones, so that f32 sums are exact in any order and only the roundings to bf16 count.
// REQUIRES: iree, x86_64
// RUN: sed -e 's/xi4>/xi8>/g' %s | conquer-opt --conquer-keep-rounding --mlir-print-op-generic -o %t.tosa.mlir
// RUN: conquer-opt %s --conquer-fuse-pipeline="profile=x86-64 profile-dir=%profiles" --conquer-lower-pipeline="profile=x86-64 profile-dir=%profiles" -o %t.lowered.mlirbc --emit-bytecode
// RUN: iree-compile %t.tosa.mlir %iree-flags -o %t.tosa.vmfb
// RUN: iree-compile %t.lowered.mlirbc %iree-flags --iree-hal-executable-object-search-path=%kernels -o %t.vmfb
// RUN: iree-run-module --module=%t.tosa.vmfb --device=local-sync --function=w4a8 --input="1x7x5x3xi8=-128 127 2 55 -114 110 -1 -102 -48 -71 62 112 -2 66 -76 -1 -122 -18 80 15 -35 71 -47 -92 -57 99 -64 -61 -127 -126 -21 -18 -44 -43 20 32 -27 -24 -35 -28 68 24 -117 56 84 -44 -54 7 -95 41 26 -127 45 -95 30 53 28 118 33 -34 118 113 -38 -99 3 -117 55 78 -119 86 59 64 -124 103 -105 -36 -28 -68 -3 108 48 53 0 108 -73 60 23 -110 93 -82 -22 46 57 -53 46 13 -81 31 34 28 -38 -88 -52 30 119" --output=@%t.a0.npy --output=@%t.a1.npy --output=@%t.a2.npy
// RUN: iree-run-module --module=%t.tosa.vmfb --device=local-sync --function=bf16 --input="1x7x5x3xf32=-6 -13 -11 9 -14 -1 6 0 13 10 -7 -13 -14 15 5 -3 -8 -8 10 -10 -6 11 7 -7 -13 10 2 -7 13 -6 13 15 4 14 1 2 14 9 -7 -9 8 -5 15 5 -5 -11 15 1 16 16 7 -12 6 -14 3 7 1 15 0 2 5 -5 -16 14 0 4 1 13 2 16 6 6 1 6 10 6 -5 12 7 5 -7 -6 -4 7 14 2 -11 10 -6 10 3 1 -15 -4 -6 12 -5 -2 -5 -14 14 -2 -6 -13 -8" --output=@%t.a3.npy --output=@%t.a4.npy
// RUN: iree-run-module --module=%t.vmfb --device=local-sync --function=w4a8 --input="1x7x5x3xi8=-128 127 2 55 -114 110 -1 -102 -48 -71 62 112 -2 66 -76 -1 -122 -18 80 15 -35 71 -47 -92 -57 99 -64 -61 -127 -126 -21 -18 -44 -43 20 32 -27 -24 -35 -28 68 24 -117 56 84 -44 -54 7 -95 41 26 -127 45 -95 30 53 28 118 33 -34 118 113 -38 -99 3 -117 55 78 -119 86 59 64 -124 103 -105 -36 -28 -68 -3 108 48 53 0 108 -73 60 23 -110 93 -82 -22 46 57 -53 46 13 -81 31 34 28 -38 -88 -52 30 119" --output=@%t.b0.npy --output=@%t.b1.npy --output=@%t.b2.npy
// RUN: iree-run-module --module=%t.vmfb --device=local-sync --function=bf16 --input="1x7x5x3xf32=-6 -13 -11 9 -14 -1 6 0 13 10 -7 -13 -14 15 5 -3 -8 -8 10 -10 -6 11 7 -7 -13 10 2 -7 13 -6 13 15 4 14 1 2 14 9 -7 -9 8 -5 15 5 -5 -11 15 1 16 16 7 -12 6 -14 3 7 1 15 0 2 5 -5 -16 14 0 4 1 13 2 16 6 6 1 6 10 6 -5 12 7 5 -7 -6 -4 7 14 2 -11 10 -6 10 3 1 -15 -4 -6 12 -5 -2 -5 -14 14 -2 -6 -13 -8" --output=@%t.b3.npy --output=@%t.b4.npy
// RUN: cmp %t.a0.npy %t.b0.npy
// RUN: cmp %t.a1.npy %t.b1.npy
// RUN: cmp %t.a2.npy %t.b2.npy
// RUN: cmp %t.a3.npy %t.b3.npy
// RUN: cmp %t.a4.npy %t.b4.npy

func.func @w4a8(%x: tensor<1x7x5x3xi8>) -> (tensor<1x4x3x5xi8>, tensor<1x4x3x5xi8>, tensor<1x4x3x7xf32>) {
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero4 = "tosa.const"() <{values = dense<0> : tensor<1xi4>}> : () -> tensor<1xi4>
  %low = "tosa.const"() <{values = dense<-128> : tensor<1xi8>}> : () -> tensor<1xi8>
  %high = "tosa.const"() <{values = dense<127> : tensor<1xi8>}> : () -> tensor<1xi8>
  %w1 = "tosa.const"() <{values = dense<[[[[-6, -2, -5], [0, -4, 1], [-7, -1, 0]], [[-2, -1, 3], [2, -6, 2], [-4, -4, 4]], [[7, -2, -7], [-2, -1, -3], [6, -1, 6]]], [[[-6, 4, 6], [1, -2, -7], [1, 2, -3]], [[-6, -3, 1], [1, -2, 2], [-3, -2, 6]], [[-5, -1, -1], [6, 2, 3], [1, -2, 0]]], [[[-5, -5, 2], [-1, 2, 0], [-4, -5, 2]], [[-6, -2, 6], [7, 3, -7], [-1, -6, -2]], [[2, 7, 2], [1, -5, -2], [3, 7, 7]]], [[[2, -1, -1], [-1, -4, 0], [-3, 0, 4]], [[-1, -1, 6], [7, -5, 2], [2, -3, 4]], [[-3, 0, -3], [-1, -7, -2], [-3, 0, 7]]], [[[-3, -5, 0], [-7, -6, 3], [2, 0, -4]], [[-3, -7, 5], [-5, 6, -1], [-7, 0, 1]], [[1, -3, -4], [7, 0, 5], [-7, -4, 0]]]]> : tensor<5x3x3x3xi4>}> : () -> tensor<5x3x3x3xi4>
  %b1 = "tosa.const"() <{values = dense<[-26, -142, -8, 0, 204]> : tensor<5xi32>}> : () -> tensor<5xi32>
  %wd = "tosa.const"() <{values = dense<[[[[2], [0], [1], [3], [6]], [[2], [7], [4], [7], [-6]], [[-7], [5], [-5], [-3], [-3]]], [[[1], [4], [-2], [2], [-3]], [[4], [1], [-7], [0], [-2]], [[-2], [3], [4], [6], [2]]], [[[-5], [-7], [-7], [-3], [1]], [[0], [3], [7], [-6], [7]], [[3], [1], [-4], [-7], [-1]]]]> : tensor<3x3x5x1xi4>}> : () -> tensor<3x3x5x1xi4>
  %bd = "tosa.const"() <{values = dense<[137, 289, 193, 94, 187]> : tensor<5xi32>}> : () -> tensor<5xi32>
  %w2 = "tosa.const"() <{values = dense<[[[[-1, 3, 6, 4, -4]]], [[[7, -3, 0, 6, 5]]], [[[-6, -3, 6, -7, 4]]], [[[5, -1, 2, -3, 3]]], [[[5, 0, 7, -3, -5]]], [[[-5, 0, 4, 1, 7]]], [[[0, -2, 1, -5, -1]]]]> : tensor<7x1x1x5xi4>}> : () -> tensor<7x1x1x5xi4>
  %b2 = "tosa.const"() <{values = dense<[299, 254, -251, -230, -65, -27, -213]> : tensor<7xi32>}> : () -> tensor<7xi32>
  %acc1 = tosa.conv2d %x, %w1, %b1, %low, %zero4 {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 2, 0>, stride = array<i64: 2, 2>} : (tensor<1x7x5x3xi8>, tensor<5x3x3x3xi4>, tensor<5xi32>, tensor<1xi8>, tensor<1xi4>) -> tensor<1x4x3x5xi32>
  %q1_f = tosa.cast %acc1 : (tensor<1x4x3x5xi32>) -> tensor<1x4x3x5xf32>
  %q1_m = "tosa.const"() <{values = dense<[[[[0.034169, 0.030581, 0.012715, 0.032233, 0.039403]]]]> : tensor<1x1x1x5xf32>}> : () -> tensor<1x1x1x5xf32>
  %q1_s = tosa.mul %q1_f, %q1_m, %zero : (tensor<1x4x3x5xf32>, tensor<1x1x1x5xf32>, tensor<1xi8>) -> tensor<1x4x3x5xf32>
  %q1_c = tosa.clamp %q1_s {min_val = 0.0 : f32, max_val = 254.0 : f32} : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
  %q1_i = tosa.cast %q1_c : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xi32>
  %q1_z = "tosa.const"() <{values = dense<-127> : tensor<1x1x1x1xi32>}> : () -> tensor<1x1x1x1xi32>
  %q1_a = tosa.add %q1_i, %q1_z : (tensor<1x4x3x5xi32>, tensor<1x1x1x1xi32>) -> tensor<1x4x3x5xi32>
  %q1 = tosa.cast %q1_a : (tensor<1x4x3x5xi32>) -> tensor<1x4x3x5xi8>
  %accd = tosa.depthwise_conv2d %q1, %wd, %bd, %high, %zero4 {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x3x5xi8>, tensor<3x3x5x1xi4>, tensor<5xi32>, tensor<1xi8>, tensor<1xi4>) -> tensor<1x4x3x5xi32>
  %qd_f = tosa.cast %accd : (tensor<1x4x3x5xi32>) -> tensor<1x4x3x5xf32>
  %qd_m = "tosa.const"() <{values = dense<[[[[0.049942, 0.039544, 0.016711, 0.044472, 0.022673]]]]> : tensor<1x1x1x5xf32>}> : () -> tensor<1x1x1x5xf32>
  %qd_s = tosa.mul %qd_f, %qd_m, %zero : (tensor<1x4x3x5xf32>, tensor<1x1x1x5xf32>, tensor<1xi8>) -> tensor<1x4x3x5xf32>
  %qd_c = tosa.clamp %qd_s {min_val = -100.0 : f32, max_val = 155.0 : f32} : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
  %qd_i = tosa.cast %qd_c : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xi32>
  %qd_z = "tosa.const"() <{values = dense<-28> : tensor<1x1x1x1xi32>}> : () -> tensor<1x1x1x1xi32>
  %qd_a = tosa.add %qd_i, %qd_z : (tensor<1x4x3x5xi32>, tensor<1x1x1x1xi32>) -> tensor<1x4x3x5xi32>
  %qd = tosa.cast %qd_a : (tensor<1x4x3x5xi32>) -> tensor<1x4x3x5xi8>
  %acc2 = tosa.conv2d %qd, %w2, %b2, %zero, %zero4 {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x3x5xi8>, tensor<7x1x1x5xi4>, tensor<7xi32>, tensor<1xi8>, tensor<1xi4>) -> tensor<1x4x3x7xi32>
  %q2_f = tosa.cast %acc2 : (tensor<1x4x3x7xi32>) -> tensor<1x4x3x7xf32>
  %q2_m = "tosa.const"() <{values = dense<[[[[0.037601, 0.048329, 0.039936, 0.019712, 0.025237, 0.04713, 0.020241]]]]> : tensor<1x1x1x7xf32>}> : () -> tensor<1x1x1x7xf32>
  %q2_s = tosa.mul %q2_f, %q2_m, %zero : (tensor<1x4x3x7xf32>, tensor<1x1x1x7xf32>, tensor<1xi8>) -> tensor<1x4x3x7xf32>
  %q2_c = tosa.clamp %q2_s {min_val = -20.0 : f32, max_val = 30.0 : f32} : (tensor<1x4x3x7xf32>) -> tensor<1x4x3x7xf32>
  return %q1, %qd, %q2_c : tensor<1x4x3x5xi8>, tensor<1x4x3x5xi8>, tensor<1x4x3x7xf32>
}

func.func @bf16(%image: tensor<1x7x5x3xf32>) -> (tensor<1x4x3x5xf32>, tensor<1x4x3x5xf32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xbf16>}> : () -> tensor<1xbf16>
  %w1 = "tosa.const"() <{values = dense<[[[[-5.0, 10.0, -6.0], [-12.0, -3.0, -14.0], [-10.0, 8.0, -12.0]], [[1.0, -13.0, -9.0], [9.0, -8.0, -16.0], [11.0, -11.0, 4.0]], [[15.0, 15.0, 6.0], [7.0, -13.0, -8.0], [2.0, -7.0, 16.0]]], [[[2.0, -2.0, 0.0], [-12.0, -1.0, 0.0], [2.0, -8.0, -1.0]], [[7.0, 13.0, 8.0], [-5.0, -8.0, -15.0], [5.0, -11.0, -14.0]], [[-11.0, -9.0, 16.0], [13.0, -1.0, 8.0], [13.0, 14.0, 4.0]]], [[[-10.0, -15.0, 8.0], [-13.0, -7.0, 11.0], [-2.0, -9.0, -11.0]], [[15.0, -3.0, -8.0], [8.0, 6.0, -1.0], [2.0, 5.0, 6.0]], [[8.0, 8.0, -8.0], [6.0, 2.0, 11.0], [7.0, -14.0, -3.0]]], [[[-5.0, 9.0, -12.0], [-10.0, -14.0, -14.0], [-5.0, -4.0, -4.0]], [[-14.0, 15.0, 14.0], [6.0, -16.0, 11.0], [14.0, 3.0, 11.0]], [[4.0, 13.0, 13.0], [-10.0, -4.0, -7.0], [-6.0, -12.0, 7.0]]], [[[8.0, 14.0, -7.0], [0.0, -9.0, 1.0], [-6.0, 2.0, -1.0]], [[-14.0, 14.0, -14.0], [6.0, 7.0, 4.0], [-13.0, -15.0, 13.0]], [[14.0, -7.0, -9.0], [4.0, 2.0, 13.0], [-1.0, -6.0, -14.0]]]]> : tensor<5x3x3x3xbf16>}> : () -> tensor<5x3x3x3xbf16>
  %b1 = "tosa.const"() <{values = dense<0.0> : tensor<5xbf16>}> : () -> tensor<5xbf16>
  %wd = "tosa.const"() <{values = dense<[[[[-2.0], [2.0], [-3.0], [1.0], [-2.0]], [[2.0], [-3.0], [1.0], [0.0], [2.0]], [[-1.0], [2.0], [-1.0], [-2.0], [0.0]]], [[[-1.0], [-1.0], [-3.0], [2.0], [2.0]], [[0.0], [-2.0], [3.0], [-2.0], [-2.0]], [[2.0], [-2.0], [-3.0], [2.0], [1.0]]], [[[0.0], [2.0], [-1.0], [-3.0], [0.0]], [[-3.0], [0.0], [3.0], [2.0], [0.0]], [[-2.0], [-3.0], [-3.0], [1.0], [3.0]]]]> : tensor<3x3x5x1xbf16>}> : () -> tensor<3x3x5x1xbf16>
  %x = tosa.cast %image : (tensor<1x7x5x3xf32>) -> tensor<1x7x5x3xbf16>
  %c1 = tosa.conv2d %x, %w1, %b1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 2, 0>, stride = array<i64: 2, 2>} : (tensor<1x7x5x3xbf16>, tensor<5x3x3x3xbf16>, tensor<5xbf16>, tensor<1xbf16>, tensor<1xbf16>) -> tensor<1x4x3x5xbf16>
  %r1 = tosa.clamp %c1 {min_val = -512.0 : bf16, max_val = 2048.0 : bf16} : (tensor<1x4x3x5xbf16>) -> tensor<1x4x3x5xbf16>
  %cd = tosa.depthwise_conv2d %r1, %wd, %b1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x3x5xbf16>, tensor<3x3x5x1xbf16>, tensor<5xbf16>, tensor<1xbf16>, tensor<1xbf16>) -> tensor<1x4x3x5xbf16>
  %sum = tosa.add %cd, %r1 : (tensor<1x4x3x5xbf16>, tensor<1x4x3x5xbf16>) -> tensor<1x4x3x5xbf16>
  %y1 = tosa.cast %r1 : (tensor<1x4x3x5xbf16>) -> tensor<1x4x3x5xf32>
  %y2 = tosa.cast %sum : (tensor<1x4x3x5xbf16>) -> tensor<1x4x3x5xf32>
  return %y1, %y2 : tensor<1x4x3x5xf32>, tensor<1x4x3x5xf32>
}
