// Ops that keep their input's scale, and concat, which rescales.
// RUN: split-file %s %t
// RUN: conquer-opt %t/net.mlir --conquer-quantize="calibration=%t/calibration.json profile=x86-64 profile-dir=%profiles" | FileCheck %s

//--- calibration.json
{"format": "conquer.calibration", "version": 1, "method": "minmax", "samples": 1, "ranges": {
  "image": {"min": -1, "max": 1.55, "observed_min": -1, "observed_max": 1.55},
  "joined": {"min": -2, "max": 3.1, "observed_min": -1, "observed_max": 3}}}

//--- net.mlir
// CHECK-LABEL: func.func @main
func.func @main(%image: tensor<1x4x4x2xf32> {conquer.id = "image"}) -> (tensor<1x2x2x8xf32> {conquer.id = "y"}) {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %pads = tosa.const_shape {values = dense<[0, 0, 1, 0, 0, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %start = tosa.const_shape {values = dense<[0, 1, 1, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 4, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %small = tosa.const_shape {values = dense<[1, 2, 2, 8]> : tensor<4xindex>} : () -> !tosa.shape<4>
  // CHECK-DAG: %[[ZP:.*]] = "tosa.const"() <{values = dense<-28> : tensor<1xi8>}>
  // The pad's real 1.0 has code 72.
  // CHECK-DAG: %[[ONE:.*]] = "tosa.const"() <{values = dense<72> : tensor<1xi8>}>
  // CHECK: tosa.pad %{{.*}}, %{{.*}}, %[[ONE]] {conquer.id = "pad", {{.*}}conquer.zero_point = -28 : i32} : {{.*}} -> tensor<1x5x5x2xi8>
  %0 = tosa.pad %image, %pads, %one {conquer.id = "pad", conquer.precision = "i8"} : (tensor<1x4x4x2xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x5x5x2xf32>
  // CHECK: tosa.slice {{.*}} -> tensor<1x4x4x2xi8>
  %1 = tosa.slice %0, %start, %size {conquer.id = "slice", conquer.precision = "i8"} : (tensor<1x5x5x2xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x4x4x2xf32>
  // CHECK: tosa.clamp {{.*}}max_val = 127 : i8, min_val = -28 : i8}
  %2 = tosa.clamp %1 {conquer.id = "relu", conquer.precision = "i8", min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: tosa.max_pool2d {{.*}} -> tensor<1x4x4x2xi8>
  %3 = tosa.max_pool2d %2 {conquer.id = "max", conquer.precision = "i8", kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: tosa.avg_pool2d %{{.*}}, %[[ZP]], %[[ZP]] {acc_type = i32
  %4 = tosa.avg_pool2d %3, %zp, %zp {conquer.id = "avg", conquer.precision = "i8", acc_type = f32, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: tosa.transpose {{.*}} -> tensor<1x4x4x2xi8>
  %5 = tosa.transpose %4 {conquer.id = "turn", conquer.precision = "i8", perms = array<i32: 0, 2, 1, 3>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: %[[RESHAPED:.*]] = tosa.reshape {{.*}} -> tensor<1x2x2x8xi8>
  %6 = tosa.reshape %5, %small {conquer.id = "reshape", conquer.precision = "i8"} : (tensor<1x4x4x2xf32>, !tosa.shape<4>) -> tensor<1x2x2x8xf32>
  // CHECK: %[[HALVED:.*]] = tosa.rescale %[[RESHAPED]], %{{.*}}, %{{.*}}, %[[ZP]], {{.*}} -> tensor<1x2x2x8xi8>
  // CHECK: tosa.concat %[[HALVED]] {axis = 1 : i32, conquer.id = "joined", {{.*}}conquer.scale = 2.000000e-02 : f32, conquer.zero_point = -28 : i32}
  %7 = tosa.concat %6 {axis = 1 : i32, conquer.id = "joined", conquer.precision = "i8"} : (tensor<1x2x2x8xf32>) -> tensor<1x2x2x8xf32>
  return %7 : tensor<1x2x2x8xf32>
}
