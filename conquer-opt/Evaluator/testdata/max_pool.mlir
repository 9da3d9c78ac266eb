// Inputs max_pool.in.*.npy; max_pool.out.*.npy are what a numpy model and Arm's reference model give.
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<1x14x14x16xi8>) -> tensor<1x7x7x16xi8>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<1x14x14x16xi8>):
    %0 = "tosa.max_pool2d"(%arg0) <{kernel = array<i64: 3, 3>, nan_mode = #tosa.nan_mode<PROPAGATE>, pad = array<i64: 0, 1, 0, 1>, stride = array<i64: 2, 2>}> : (tensor<1x14x14x16xi8>) -> tensor<1x7x7x16xi8>
    "func.return"(%0) : (tensor<1x7x7x16xi8>) -> ()
  }) : () -> ()
}) : () -> ()

