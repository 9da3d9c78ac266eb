// RUN: conquer-opt %s --conquer-keep-rounding | FileCheck %s

// The sum is rounded before the next op reads it; the function's result is in memory anyway.
// CHECK-LABEL: @sums
// CHECK: %[[A:.*]] = tosa.add
// CHECK: %[[B:.*]] = "util.optimization_barrier"(%[[A]]) : (tensor<8xbf16>) -> tensor<8xbf16>
// CHECK: %[[C:.*]] = tosa.add %[[B]],
// CHECK-NEXT: return %[[A]], %[[C]]
func.func @sums(%x: tensor<8xbf16>) -> (tensor<8xbf16>, tensor<8xbf16>) {
  %0 = tosa.add %x, %x : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16>
  %1 = tosa.add %0, %x : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16>
  return %0, %1 : tensor<8xbf16>, tensor<8xbf16>
}

// A cast to bf16 and back must not vanish.
// CHECK-LABEL: @there_and_back
// CHECK: tosa.cast
// CHECK: util.optimization_barrier
// CHECK: tosa.cast
func.func @there_and_back(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = tosa.cast %x : (tensor<8xf32>) -> tensor<8xbf16>
  %1 = tosa.cast %0 : (tensor<8xbf16>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// What a kernel reads is in memory; a clamp of bf16 numbers rounds nothing; f16 is left alone.
// CHECK-LABEL: @no_barrier
// CHECK-NOT: util.optimization_barrier
func.func @no_barrier(%x: tensor<8xf32>, %y: tensor<8xbf16>, %z: tensor<8xf16>) -> (tensor<8xbf16>, tensor<8xf32>, tensor<8xf16>) {
  %0 = tosa.cast %x : (tensor<8xf32>) -> tensor<8xbf16>
  %1 = "flow.dispatch"(%0) {entry_points = [@kernels::@kernel], operandSegmentSizes = array<i32: 0, 1, 0, 0>, tied_operands = [-1 : index]} : (tensor<8xbf16>) -> tensor<8xbf16>
  %2 = tosa.clamp %y {min_val = 0.0 : bf16, max_val = 6.0 : bf16} : (tensor<8xbf16>) -> tensor<8xbf16>
  %3 = tosa.cast %2 : (tensor<8xbf16>) -> tensor<8xf32>
  %4 = tosa.add %z, %z : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  %5 = tosa.add %4, %z : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  return %1, %3, %5 : tensor<8xbf16>, tensor<8xf32>, tensor<8xf16>
}
