// Prepared IR becomes one function per layer and precision, and one per conversion and size; the index says which is which.
// Two layers of one signature share their functions; a layer is timed with its clamp.
// RUN: conquer-opt %s --conquer-latency-pipeline="calibration=%S/Inputs/latency.calibration.json profile=x86-64 profile-dir=%profiles index=%t.json" --mlir-print-op-generic | FileCheck %s
// RUN: FileCheck %s --check-prefix=INDEX < %t.json
// RUN: not conquer-opt %s --conquer-latency-pipeline="calibration=%t.missing profile=x86-64 profile-dir=%profiles index=%t.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: sed -e 's/@main/@other/' %s > %t.other.mlir
// RUN: not conquer-opt %t.other.mlir --conquer-latency-pipeline="calibration=%S/Inputs/latency.calibration.json profile=x86-64 profile-dir=%profiles index=%t.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NO-MAIN
// RUN: not conquer-opt %s --conquer-latency-pipeline="calibration=%S/Inputs/latency.calibration.json profile=npu-integer profile-dir=%profiles index=%t.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NO-DEVICE

// NO-DEVICE: error: profile 'npu-integer' has the driver 'none', expected a device that runs IREE's modules
// MISSING: error: {{.*}}.missing: cannot open file; expected a readable file
// MISSING-NOT: tosa
// NO-MAIN: error: no function 'main', expected prepared IR

// CHECK-NOT: sym_name = "main"
// CHECK: sym_name = "layer_0_f32"
// CHECK: "tosa.conv2d"
// CHECK-NEXT: "tosa.clamp"
// CHECK-NEXT: "func.return"{{.*}}tensor<1x2x2x2xf32>
// CHECK-NOT: sym_name = "layer_1_f32"
// CHECK: sym_name = "layer_0_bf16"
// CHECK: %[[Y:.*]] = "flow.dispatch"
// CHECK-NEXT: "func.return"(%[[Y]]) : (tensor<1x2x2x2xbf16>)
// CHECK: sym_name = "layer_0_i8"
// CHECK: %[[Y:.*]] = "flow.dispatch"
// CHECK-NEXT: "func.return"(%[[Y]]) : (tensor<1x2x2x2xi8>)
// CHECK: sym_name = "layer_0_w4a8"
// CHECK: %[[Y:.*]] = "flow.dispatch"
// CHECK-NEXT: "func.return"(%[[Y]]) : (tensor<1x2x2x2xi8>)
// w4a8 reads and writes what i8 does: no conversions of its own.
// CHECK: sym_name = "convert_f32_bf16_8"
// CHECK: sym_name = "convert_f32_i8_8"
// CHECK: sym_name = "convert_bf16_f32_8"
// CHECK: sym_name = "convert_bf16_i8_8"
// CHECK: sym_name = "convert_i8_f32_8"
// CHECK: sym_name = "convert_i8_bf16_8"
// What a call takes with next to no work.
// CHECK: sym_name = "convert_f32_f32_1"
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<1xf32>):
// CHECK-NEXT: %[[Z:.*]] = "tosa.abs"(%[[X]])
// CHECK-NEXT: "func.return"(%[[Z]])
// CHECK-NOT: "func.func"

// INDEX: "format": "conquer.latency_index"
// INDEX: "version": 1
// INDEX: "function": "layer_0_f32"
// INDEX-NEXT: "signature": "conv2d_2x2x2_k2x1x1_s1x1_d1x1_p0.0.0.0"
// INDEX-NEXT: "precision": "f32"
// INDEX-NEXT: "inputs": [
// INDEX-NEXT: "1x2x2x2xf32"
// INDEX: "function": "layer_0_i8"
// INDEX: "precision": "i8"
// INDEX: "1x2x2x2xi8"
// INDEX: "function": "convert_f32_i8_8"
// INDEX-NEXT: "from": "f32"
// INDEX-NEXT: "to": "i8"
// INDEX-NEXT: "elements": 8
// INDEX-NEXT: "inputs": [
// INDEX-NEXT: "8xf32"
func.func @main(%x: tensor<1x2x2x2xf32> {conquer.id = "image"}) -> (tensor<1x2x2x2xf32> {conquer.id = "logits"}) {
  %w = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[1.0, 0.125]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<[0.5, -0.5]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %b, %zero, %zero {conquer.id = "a", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %1 = tosa.clamp %0 {conquer.id = "relu", min_val = 0.0 : f32, max_val = 3.40282347e+38 : f32} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %2 = tosa.conv2d %1, %w, %b, %zero, %zero {conquer.id = "b", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  return %2 : tensor<1x2x2x2xf32>
}
