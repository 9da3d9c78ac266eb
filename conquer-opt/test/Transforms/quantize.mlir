// The spelling of the numeric contract, in both forms of requantisation.
// RUN: split-file %s %t
// RUN: sed -e 's/"requant": "float32"/"requant": "integer"/' %profiles/x86-64.json > %t/integer.json
// RUN: conquer-opt %t/net.mlir --conquer-quantize="calibration=%t/calibration.json profile=x86-64 profile-dir=%profiles" | FileCheck %s
// RUN: conquer-opt %t/net.mlir --conquer-quantize="calibration=%t/calibration.json profile=%t/integer.json" | FileCheck %s --check-prefix=INTEGER

//--- calibration.json
{"format": "conquer.calibration", "version": 1, "method": "minmax", "samples": 1, "ranges": {
  "image": {"min": -1, "max": 1.55, "observed_min": -1, "observed_max": 1.55},
  "relu": {"min": 0, "max": 5.1, "observed_min": 0, "observed_max": 5.1},
  "sum": {"min": -1.28, "max": 1.27, "observed_min": -1, "observed_max": 1}}}

//--- net.mlir
// "a" has readers of both precisions; "b" only f32 ones; the input is converted once though two layers read it.
// CHECK: module attributes {conquer.conversions = {dequantize = 2 : i64, direct = 1 : i64, quantize = 1 : i64, round = 0 : i64, widen = 0 : i64}}
// CHECK: func.func @main(%[[IMAGE:.*]]: tensor<1x4x4x2xf32>
func.func @main(%image: tensor<1x4x4x2xf32> {conquer.id = "image"})
    -> (tensor<1x4x4x2xf32> {conquer.id = "x"}, tensor<1x4x4x2xf32> {conquer.id = "y"}, tensor<1x4x4x2xf32> {conquer.id = "z"}) {
  // CHECK-DAG: %[[SHIFT:.*]] = "tosa.const"() <{values = dense<0> : tensor<1xi8>}>
  // CHECK-DAG: %[[ZP:.*]] = "tosa.const"() <{values = dense<-28> : tensor<1xi8>}>
  // CHECK-DAG: %[[W:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}64, -127]]], {{\[\[\[}}0, 0]]]]> : tensor<2x1x1x2xi8>}>
  // The channel of zeros has its bias at 2^30.
  // CHECK-DAG: %[[B:.*]] = "tosa.const"() <{values = dense<[3175, 10737418{{..}}]> : tensor<2xi32>}>
  // CHECK-NOT: tensor<2x1x1x2xf32>
  %w = "tosa.const"() <{values = dense<[[[[0.5, -1.0]]], [[[0.0, 0.0]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.25, -0.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %bias2 = "tosa.const"() <{values = dense<[0.25, 0.125]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>

  // f32 -> i8
  // CHECK: %[[Q0:.*]] = tosa.mul %[[IMAGE]], %{{.*}}, %[[SHIFT]]
  // CHECK: %[[Q1:.*]] = tosa.clamp %[[Q0]] {max_val = 1.550000e+02 : f32, min_val = -1.000000e+02 : f32}
  // CHECK: %[[Q2:.*]] = tosa.cast %[[Q1]] : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xi32>
  // CHECK: %[[Q3:.*]] = tosa.add %[[Q2]], %{{.*}} : (tensor<1x4x4x2xi32>, tensor<1x1x1x1xi32>)
  // CHECK: %[[Q4:.*]] = tosa.cast %[[Q3]] {conquer.scale = 0.00999999977 : f32, conquer.zero_point = -28 : i32} : (tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi8>

  // conv + clamp -> i8; the value keeps the clamp's id
  // CHECK: %[[A0:.*]] = tosa.conv2d %[[Q4]], %[[W]], %[[B]], %[[ZP]], %[[SHIFT]] {acc_type = i32, conquer.layer = "a", conquer.precision = "i8", {{.*}}} : {{.*}} -> tensor<1x4x4x2xi32>
  // CHECK: %[[A1:.*]] = tosa.cast %[[A0]] : (tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xf32>
  // CHECK: %[[A2:.*]] = tosa.mul %[[A1]], %{{.*}}, %[[SHIFT]] : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>)
  // CHECK: %[[A3:.*]] = tosa.clamp %[[A2]] {max_val = 2.000000e+02 : f32, min_val = 0.000000e+00 : f32}
  // CHECK: %[[A4:.*]] = tosa.cast %[[A3]]
  // CHECK: %[[A5:.*]] = tosa.add %[[A4]], %{{.*}}
  // CHECK: %[[A6:.*]] = tosa.cast %[[A5]] {conquer.id = "relu", conquer.precision = "i8", conquer.scale = 2.000000e-02 : f32, conquer.zero_point = -128 : i32}
  // its f32 form, for the function's result
  // CHECK: %[[R0:.*]] = tosa.cast %[[A6]] : (tensor<1x4x4x2xi8>) -> tensor<1x4x4x2xi32>
  // CHECK: %[[R1:.*]] = tosa.sub %[[R0]], %{{.*}}
  // CHECK: %[[R2:.*]] = tosa.cast %[[R1]] : (tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xf32>
  // CHECK: %[[R3:.*]] = tosa.mul %[[R2]], %{{.*}}, %[[SHIFT]]
  // INTEGER: %[[A:.*]] = tosa.conv2d
  // INTEGER: %[[AR:.*]] = tosa.rescale %[[A]], {{.*}}per_channel = true, rounding_mode = SINGLE_ROUND, scale32 = true{{.*}} -> tensor<1x4x4x2xi8>
  // INTEGER: %[[AC:.*]] = tosa.clamp %[[AR]] {conquer.id = "relu", {{.*}}max_val = 72 : i8, min_val = -128 : i8
  %0 = tosa.conv2d %image, %w, %bias2, %zp, %zp {conquer.id = "a", conquer.precision = "i8", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {conquer.id = "relu", conquer.precision = "i8", min_val = 0.0 : f32, max_val = 4.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>

  // All readers are f32: straight from the accumulator.
  // CHECK: %[[B0:.*]] = tosa.conv2d %[[Q4]], {{.*}}conquer.layer = "b"
  // CHECK: %[[B1:.*]] = tosa.cast %[[B0]] : (tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xf32>
  // CHECK: %[[B2:.*]] = tosa.mul %[[B1]], {{.*}}conquer.id = "b", conquer.precision = "i8"}
  %2 = tosa.conv2d %image, %w, %bias, %zp, %zp {conquer.id = "b", conquer.precision = "i8", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>

  // x + x: both operands are 2^14 times the codes, minus twice their zero point.
  // CHECK: %[[S0:.*]] = tosa.cast %[[A6]] : (tensor<1x4x4x2xi8>) -> tensor<1x4x4x2xi32>
  // CHECK: %[[S1:.*]] = tosa.mul %[[S0]], %{{.*}}, %[[SHIFT]]
  // CHECK: %[[S2:.*]] = tosa.cast %[[A6]] : (tensor<1x4x4x2xi8>) -> tensor<1x4x4x2xi32>
  // CHECK: %[[S3:.*]] = tosa.mul %[[S2]], %{{.*}}, %[[SHIFT]]
  // CHECK: %[[S4:.*]] = tosa.add %[[S1]], %[[S3]]
  // CHECK: %[[S5:.*]] = tosa.add %[[S4]], %{{.*}}
  // CHECK: %[[S6:.*]] = tosa.cast %[[S5]] : (tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xf32>
  // CHECK: %[[S7:.*]] = tosa.mul %[[S6]]
  // CHECK: %[[S8:.*]] = tosa.clamp %[[S7]] {max_val = 1.270000e+02 : f32, min_val = -1.280000e+02 : f32}
  // CHECK: conquer.id = "sum", conquer.precision = "i8", conquer.scale = 0.00999999977 : f32, conquer.zero_point = 0 : i32
  // INTEGER: %[[SA:.*]] = tosa.rescale %[[AC]], {{.*}}per_channel = false{{.*}} -> tensor<1x4x4x2xi32>
  // INTEGER: %[[SB:.*]] = tosa.rescale %[[AC]], {{.*}}per_channel = false{{.*}} -> tensor<1x4x4x2xi32>
  // INTEGER: %[[SUM:.*]] = tosa.add %[[SA]], %[[SB]]
  // INTEGER: tosa.rescale %[[SUM]], {{.*}}conquer.id = "sum"
  %3 = tosa.add %1, %1 {conquer.id = "sum", conquer.precision = "i8"} : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: return %[[R3]], %[[B2]], %{{.*}} : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>
  return %1, %2, %3 : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>
}
