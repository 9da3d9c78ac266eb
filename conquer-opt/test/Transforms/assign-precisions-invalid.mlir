// RUN: split-file %s %t
// RUN: not conquer-opt %t/net.mlir --conquer-assign-precisions="policy=%t/unknown.json profile=x86-64 profile-dir=%profiles" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not conquer-opt %t/net.mlir --conquer-assign-precisions="policy=%t/missing.json profile=x86-64 profile-dir=%profiles" 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not conquer-opt %t/net.mlir --conquer-assign-precisions="policy=%t/illegal.json profile=x86-64 profile-dir=%profiles" 2>&1 | FileCheck %s --check-prefix=ILLEGAL
// RUN: not conquer-opt %t/net.mlir --conquer-assign-precisions="policy=%t/spelling.json profile=x86-64 profile-dir=%profiles" 2>&1 | FileCheck %s --check-prefix=SPELLING
// RUN: not conquer-opt %t/net.mlir --conquer-assign-precisions="policy=%t/none.json profile=x86-64 profile-dir=%profiles" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not conquer-opt %t/net.mlir --conquer-assign-precisions="policy=%t/missing.json profile=z80 profile-dir=%profiles" 2>&1 | FileCheck %s --check-prefix=PROFILE
// RUN: sed -e 's/"matmul": {/"matmul": {"f16": "iree", /' %profiles/x86-64.json > %t/f16-profile.json
// RUN: not conquer-opt %t/net.mlir --conquer-assign-precisions="policy=%t/f16.json profile=%t/f16-profile.json" 2>&1 | FileCheck %s --check-prefix=FORM

// RUN: sed -e 's/"matmul": {/"matmul": {"w8a16": "tosa", /' %profiles/npu-integer.json > %t/w8a16-profile.json
// RUN: not conquer-opt %t/net.mlir --conquer-assign-precisions="policy=%t/w8a16.json profile=%t/w8a16-profile.json" 2>&1 | FileCheck %s --check-prefix=W8A16

// UNKNOWN: net.mlir:{{.*}} error: {{.*}}unknown.json: layers.fc2: unknown layer id; expected one of the 1 layers
// UNKNOWN-NOT: see current operation
// MISSING: net.mlir:2:{{.*}} error: {{.*}}missing.json: layers: missing layer 'fc'
// ILLEGAL: net.mlir:2:{{.*}} error: {{.*}}illegal.json: layers.fc: this matmul cannot run in i8 on profile 'x86-64'; expected one of f32
// FORM: net.mlir:2:{{.*}} error: {{.*}}f16.json: layers.fc: this matmul cannot run in f16 on profile 'x86-64'; expected one of f32;
// W8A16: net.mlir:2:{{.*}} error: {{.*}}w8a16.json: layers.fc: this matmul cannot run in w8a16 on profile 'npu-integer'; expected one of f32;
// SPELLING: error: {{.*}}spelling.json: layers.fc: unknown precision 'int8'; expected one of f32, bf16, f16, i8, w4a8, w8a16
// NONE: error: {{.*}}none.json: cannot open file
// PROFILE: error: {{.*}}unknown profile 'z80'

//--- unknown.json
{"format": "conquer.policy", "version": 1, "layers": {"fc": "f32", "fc2": "f32"}}
//--- missing.json
{"format": "conquer.policy", "version": 1, "layers": {}}
//--- illegal.json
{"format": "conquer.policy", "version": 1, "layers": {"fc": "i8"}}
//--- f16.json
{"format": "conquer.policy", "version": 1, "layers": {"fc": "f16"}}
//--- w8a16.json
{"format": "conquer.policy", "version": 1, "layers": {"fc": "w8a16"}}
//--- spelling.json
{"format": "conquer.policy", "version": 1, "layers": {"fc": "int8"}}

//--- net.mlir
func.func @main(%a: tensor<1x2x3xf32> {conquer.id = "a"}, %b: tensor<1x3x2xf32> {conquer.id = "b"}, %zp: tensor<1xf32> {conquer.id = "zp"}) -> (tensor<1x2x2xf32> {conquer.id = "y"}) {
  %0 = tosa.matmul %a, %b, %zp, %zp {conquer.id = "fc"} : (tensor<1x2x3xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  return %0 : tensor<1x2x2xf32>
}
