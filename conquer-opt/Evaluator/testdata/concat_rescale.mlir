// Inputs concat_rescale.in.*.npy; concat_rescale.out.*.npy are what a numpy model and Arm's reference model give.
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<1x14x14x16xi8>, tensor<1x14x14x24xi8>) -> tensor<1x14x14x40xi8>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<1x14x14x16xi8>, %arg1: tensor<1x14x14x24xi8>):
    %0 = "tosa.const"() <{values = dense<1122865901> : tensor<1xi32>}> : () -> tensor<1xi32>
    %1 = "tosa.const"() <{values = dense<31> : tensor<1xi8>}> : () -> tensor<1xi8>
    %2 = "tosa.const"() <{values = dense<102> : tensor<1xi8>}> : () -> tensor<1xi8>
    %3 = "tosa.const"() <{values = dense<20> : tensor<1xi8>}> : () -> tensor<1xi8>
    %4 = "tosa.rescale"(%arg1, %0, %1, %2, %3) <{input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, scale32 = true}> : (tensor<1x14x14x24xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x14x14x24xi8>
    %5 = "tosa.concat"(%arg0, %4) <{axis = 3 : i32}> : (tensor<1x14x14x16xi8>, tensor<1x14x14x24xi8>) -> tensor<1x14x14x40xi8>
    "func.return"(%5) : (tensor<1x14x14x40xi8>) -> ()
  }) : () -> ()
}) : () -> ()

