// RUN: not conquer-opt %s --conquer-write-layers="layers=%t.json profile=none profile-dir=%profiles" 2>&1 | FileCheck %s --check-prefix=PROFILE
// RUN: not conquer-opt %s --conquer-assign-ids --conquer-write-layers="layers=%t.folder/none/l.json profile=x86-64 profile-dir=%profiles" 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not conquer-opt %s --conquer-write-layers="layers=%t.json profile=x86-64 profile-dir=%profiles" 2>&1 | FileCheck %s --check-prefix=ID
// RUN: conquer-opt %s --conquer-write-layers

// PROFILE: error: {{.*}}none
// FILE: error: {{.*}}l.json
// ID: error: layer list: an input of the network has no conquer.id; expected prepared IR; run --conquer-prepare-pipeline
func.func @main(%arg0: tensor<1xf32>) -> tensor<1xf32> {
  return %arg0 : tensor<1xf32>
}
