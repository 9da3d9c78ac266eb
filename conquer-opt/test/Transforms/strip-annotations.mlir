// RUN: conquer-opt %s --conquer-strip-annotations | FileCheck %s
// CHECK-NOT: conquer.
// CHECK-NOT: target_env
// Attributes of others stay.
// CHECK: @main(%{{.*}}: tensor<2xf32> {other.kept}) -> (tensor<2xf32> {other.kept})
// CHECK: tosa.floor {{.*}} {other.kept}
// CHECK-NOT: conquer.
module attributes {tosa.target_env = #tosa.target_env<specification_version = "1.0", level = "8k", profiles = [pro_int], extensions = [int4]>} {
  func.func @main(%x: tensor<2xf32> {conquer.id = "x", other.kept}) -> (tensor<2xf32> {conquer.value = 0 : i32, other.kept}) {
    %0 = tosa.floor %x {conquer.id = "floor", conquer.precision = "f32", other.kept} : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
