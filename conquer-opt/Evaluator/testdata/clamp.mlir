// Inputs clamp.in.*.npy; clamp.out.*.npy are what a numpy model and Arm's reference model give.
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<1x14x14x16xi8>) -> tensor<1x14x14x16xi8>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<1x14x14x16xi8>):
    %0 = "tosa.clamp"(%arg0) <{max_val = 80 : i8, min_val = 20 : i8, nan_mode = #tosa.nan_mode<PROPAGATE>}> : (tensor<1x14x14x16xi8>) -> tensor<1x14x14x16xi8>
    "func.return"(%0) : (tensor<1x14x14x16xi8>) -> ()
  }) : () -> ()
}) : () -> ()

