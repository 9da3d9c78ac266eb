// RUN: conquer-opt %s --split-input-file --verify-diagnostics --conquer-check-input

// expected-error@+2 {{the module has no function}}
// expected-note@+1 {{expected a module of one function}}
module {}

// -----

func.func @main(%arg0: tensor<1xf32>) -> tensor<1xf32> {
  return %arg0 : tensor<1xf32>
}
// expected-error@+2 {{a second function 'other'}}
// expected-note@+1 {{expected a module of one function}}
func.func @other(%arg0: tensor<1xf32>) -> tensor<1xf32> {
  return %arg0 : tensor<1xf32>
}

// -----

// expected-error@+2 {{op 'tosa.variable' beside the network's function}}
// expected-note@+1 {{expected a module of one function}}
tosa.variable @state : tensor<1xf32>
func.func @main(%arg0: tensor<1xf32>) -> tensor<1xf32> {
  return %arg0 : tensor<1xf32>
}

// -----

// expected-error@+2 {{function 'main' is not one block of ops}}
// expected-note@+1 {{expected a function with a body and without control flow}}
func.func private @main(%arg0: tensor<1xf32>) -> tensor<1xf32>

// -----

// expected-error@+2 {{input 0 has a dynamic shape 'tensor<?x3xf32>', expected a static one}}
// expected-note@+1 {{give every dimension a size when the model is exported or imported}}
func.func @main(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  return %arg0 : tensor<?x3xf32>
}

// -----

// expected-error@+2 {{input 0 is 'tensor<*xf32>', expected a ranked tensor}}
// expected-note@+1 {{run shape inference in the tool that made this model}}
func.func @main(%arg0: tensor<*xf32>) -> tensor<*xf32> {
  return %arg0 : tensor<*xf32>
}

// -----

// expected-error@+2 {{input 0 is 'tensor<1x3xi8>', expected f32 elements}}
// expected-note@+1 {{start from the float model; quantisation is what this compiler does}}
func.func @main(%arg0: tensor<1x3xi8>) -> tensor<1x3xi8> {
  return %arg0 : tensor<1x3xi8>
}

// -----

// expected-error@+2 {{input 0 is empty: 'tensor<0x3xf32>'}}
// expected-note@+1 {{every dimension must be at least 1}}
func.func @main(%arg0: tensor<0x3xf32>) -> tensor<0x3xf32> {
  return %arg0 : tensor<0x3xf32>
}

// -----

// expected-error@+2 {{output 0 is 'tensor<1xi32>', expected f32 elements}}
// expected-note@+1 {{start from the float model; quantisation is what this compiler does}}
func.func @main(%arg0: tensor<1x3xf32>) -> tensor<1xi32> {
  %0 = tosa.argmax %arg0 {axis = 1 : i32} : (tensor<1x3xf32>) -> tensor<1xi32>
  return %0 : tensor<1xi32>
}

// -----

// expected-error@+2 {{function 'main' has no inputs or no outputs}}
// expected-note@+1 {{expected a network}}
func.func @main() {
  return
}

// -----

func.func @main(%arg0: tensor<1x3xf32>) -> tensor<1x3xf32> {
  // expected-error@+2 {{the result of tosa.cast is 'tensor<1x3xi8>', expected f32}}
  // expected-note@+1 {{start from the float model; quantisation is what this compiler does}}
  %0 = tosa.cast %arg0 : (tensor<1x3xf32>) -> tensor<1x3xi8>
  %1 = tosa.cast %0 : (tensor<1x3xi8>) -> tensor<1x3xf32>
  return %1 : tensor<1x3xf32>
}

// -----

func.func @main(%arg0: tensor<1x3xf32>) -> tensor<1x3xf32> {
  // expected-error@+2 {{op 'arith.addf' is not a TOSA op}}
  // expected-note@+1 {{lower the model to TOSA first}}
  %0 = arith.addf %arg0, %arg0 : tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

// -----

func.func @main(%arg0: tensor<1x3xf32>) -> tensor<1x3xf32> {
  // expected-error@+2 {{op 'tosa.custom' is not supported}}
  // expected-note@+1 {{the ops that are: docs of the pass conquer-check-input}}
  %0 = tosa.custom %arg0 {domain_name = "d", operator_name = "o", implementation_attrs = ""} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}
