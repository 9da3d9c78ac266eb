// RUN: conquer-opt %s --conquer-prepare-pipeline="profile=x86-64 profile-dir=%profiles layers=%t.json" --mlir-print-debuginfo=false | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON < %t.json

// JSON: "id":"input_0"
// JSON: "layers": []
// CHECK: func.func @main(%{{.*}}: tensor<1x2xf32> {conquer.id = "input_0"}) -> (tensor<1x2xf32> {conquer.id = "output_0"})
func.func @forward(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
  // CHECK-NEXT: tosa.abs {{.*}} {conquer.id = "abs_0"}
  %0 = tosa.abs %arg0 : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %unused = tosa.exp %arg0 : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
