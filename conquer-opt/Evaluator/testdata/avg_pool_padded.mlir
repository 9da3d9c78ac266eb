// Inputs avg_pool_padded.in.*.npy; avg_pool_padded.out.*.npy are what a numpy model and Arm's reference model give.
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<1x14x14x16xi8>) -> tensor<1x14x14x16xi8>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<1x14x14x16xi8>):
    %0 = "tosa.const"() <{values = dense<20> : tensor<1xi8>}> : () -> tensor<1xi8>
    %1 = "tosa.const"() <{values = dense<-77> : tensor<1xi8>}> : () -> tensor<1xi8>
    %2 = "tosa.avg_pool2d"(%arg0, %0, %1) <{acc_type = i32, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}> : (tensor<1x14x14x16xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x14x14x16xi8>
    "func.return"(%2) : (tensor<1x14x14x16xi8>) -> ()
  }) : () -> ()
}) : () -> ()

