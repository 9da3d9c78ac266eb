// Inputs add_integer.in.*.npy; add_integer.out.*.npy are what a numpy model and Arm's reference model give.
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<1x14x14x16xi8>, tensor<1x14x14x16xi8>) -> tensor<1x14x14x16xi8>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<1x14x14x16xi8>, %arg1: tensor<1x14x14x16xi8>):
    %0 = "tosa.const"() <{values = dense<1806085731> : tensor<1xi32>}> : () -> tensor<1xi32>
    %1 = "tosa.const"() <{values = dense<12> : tensor<1xi8>}> : () -> tensor<1xi8>
    %2 = "tosa.const"() <{values = dense<35> : tensor<1xi8>}> : () -> tensor<1xi8>
    %3 = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
    %4 = "tosa.rescale"(%arg0, %0, %1, %2, %3) <{input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, scale32 = true}> : (tensor<1x14x14x16xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<1x14x14x16xi32>
    %5 = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
    %6 = "tosa.const"() <{values = dense<11> : tensor<1xi8>}> : () -> tensor<1xi8>
    %7 = "tosa.const"() <{values = dense<33> : tensor<1xi8>}> : () -> tensor<1xi8>
    %8 = "tosa.rescale"(%arg1, %5, %6, %7, %3) <{input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, scale32 = true}> : (tensor<1x14x14x16xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<1x14x14x16xi32>
    %9 = "tosa.add"(%4, %8) : (tensor<1x14x14x16xi32>, tensor<1x14x14x16xi32>) -> tensor<1x14x14x16xi32>
    %10 = "tosa.const"() <{values = dense<1728386199> : tensor<1xi32>}> : () -> tensor<1xi32>
    %11 = "tosa.const"() <{values = dense<50> : tensor<1xi8>}> : () -> tensor<1xi8>
    %12 = "tosa.const"() <{values = dense<2> : tensor<1xi8>}> : () -> tensor<1xi8>
    %13 = "tosa.rescale"(%9, %10, %11, %3, %12) <{input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, scale32 = true}> : (tensor<1x14x14x16xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x14x14x16xi8>
    "func.return"(%13) : (tensor<1x14x14x16xi8>) -> ()
  }) : () -> ()
}) : () -> ()

