// Inputs mean_reduce_sum_float32_requant.in.*.npy; mean_reduce_sum_float32_requant.out.*.npy are what a numpy model and Arm's reference model give.
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<1x14x14x16xi8>) -> tensor<1x1x1x16xi8>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<1x14x14x16xi8>):
    %0 = "tosa.cast"(%arg0) : (tensor<1x14x14x16xi8>) -> tensor<1x14x14x16xi32>
    %1 = "tosa.reduce_sum"(%0) <{axis = 1 : i32}> : (tensor<1x14x14x16xi32>) -> tensor<1x1x14x16xi32>
    %2 = "tosa.reduce_sum"(%1) <{axis = 2 : i32}> : (tensor<1x1x14x16xi32>) -> tensor<1x1x1x16xi32>
    %3 = "tosa.const"() <{values = dense<3920> : tensor<1x1x1x1xi32>}> : () -> tensor<1x1x1x1xi32>
    %4 = "tosa.sub"(%2, %3) : (tensor<1x1x1x16xi32>, tensor<1x1x1x1xi32>) -> tensor<1x1x1x16xi32>
    %5 = "tosa.cast"(%4) : (tensor<1x1x1x16xi32>) -> tensor<1x1x1x16xf32>
    %6 = "tosa.const"() <{values = dense<0.00562663376> : tensor<1x1x1x16xf32>}> : () -> tensor<1x1x1x16xf32>
    %7 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %8 = "tosa.mul"(%5, %6, %7) : (tensor<1x1x1x16xf32>, tensor<1x1x1x16xf32>, tensor<1xi8>) -> tensor<1x1x1x16xf32>
    %9 = "tosa.clamp"(%8) <{max_val = 2.040000e+02 : f32, min_val = -5.100000e+01 : f32, nan_mode = #tosa.nan_mode<PROPAGATE>}> : (tensor<1x1x1x16xf32>) -> tensor<1x1x1x16xf32>
    %10 = "tosa.cast"(%9) : (tensor<1x1x1x16xf32>) -> tensor<1x1x1x16xi32>
    %11 = "tosa.const"() <{values = dense<-77> : tensor<1x1x1x1xi32>}> : () -> tensor<1x1x1x1xi32>
    %12 = "tosa.add"(%10, %11) : (tensor<1x1x1x16xi32>, tensor<1x1x1x1xi32>) -> tensor<1x1x1x16xi32>
    %13 = "tosa.cast"(%12) : (tensor<1x1x1x16xi32>) -> tensor<1x1x1x16xi8>
    "func.return"(%13) : (tensor<1x1x1x16xi8>) -> ()
  }) : () -> ()
}) : () -> ()

