// Inputs add_float32_requant.in.*.npy; add_float32_requant.out.*.npy are what a numpy model and Arm's reference model give.
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<1x14x14x16xi8>, tensor<1x14x14x16xi8>) -> tensor<1x14x14x16xi8>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<1x14x14x16xi8>, %arg1: tensor<1x14x14x16xi8>):
    %0 = "tosa.cast"(%arg0) : (tensor<1x14x14x16xi8>) -> tensor<1x14x14x16xi32>
    %1 = "tosa.const"() <{values = dense<13779> : tensor<1x1x1x1xi32>}> : () -> tensor<1x1x1x1xi32>
    %2 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %3 = "tosa.mul"(%0, %1, %2) : (tensor<1x14x14x16xi32>, tensor<1x1x1x1xi32>, tensor<1xi8>) -> tensor<1x14x14x16xi32>
    %4 = "tosa.cast"(%arg1) : (tensor<1x14x14x16xi8>) -> tensor<1x14x14x16xi32>
    %5 = "tosa.const"() <{values = dense<16384> : tensor<1x1x1x1xi32>}> : () -> tensor<1x1x1x1xi32>
    %6 = "tosa.mul"(%4, %5, %2) : (tensor<1x14x14x16xi32>, tensor<1x1x1x1xi32>, tensor<1xi8>) -> tensor<1x14x14x16xi32>
    %7 = "tosa.add"(%3, %6) : (tensor<1x14x14x16xi32>, tensor<1x14x14x16xi32>) -> tensor<1x14x14x16xi32>
    %8 = "tosa.const"() <{values = dense<-1022937> : tensor<1x1x1x1xi32>}> : () -> tensor<1x1x1x1xi32>
    %9 = "tosa.add"(%7, %8) : (tensor<1x14x14x16xi32>, tensor<1x1x1x1xi32>) -> tensor<1x14x14x16xi32>
    %10 = "tosa.cast"(%9) : (tensor<1x14x14x16xi32>) -> tensor<1x14x14x16xf32>
    %11 = "tosa.const"() <{values = dense<4.91236897E-5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
    %12 = "tosa.mul"(%10, %11, %2) : (tensor<1x14x14x16xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x14x14x16xf32>
    %13 = "tosa.clamp"(%12) <{max_val = 1.250000e+02 : f32, min_val = -1.300000e+02 : f32, nan_mode = #tosa.nan_mode<PROPAGATE>}> : (tensor<1x14x14x16xf32>) -> tensor<1x14x14x16xf32>
    %14 = "tosa.cast"(%13) : (tensor<1x14x14x16xf32>) -> tensor<1x14x14x16xi32>
    %15 = "tosa.const"() <{values = dense<2> : tensor<1x1x1x1xi32>}> : () -> tensor<1x1x1x1xi32>
    %16 = "tosa.add"(%14, %15) : (tensor<1x14x14x16xi32>, tensor<1x1x1x1xi32>) -> tensor<1x14x14x16xi32>
    %17 = "tosa.cast"(%16) : (tensor<1x14x14x16xi32>) -> tensor<1x14x14x16xi8>
    "func.return"(%17) : (tensor<1x14x14x16xi8>) -> ()
  }) : () -> ()
}) : () -> ()

