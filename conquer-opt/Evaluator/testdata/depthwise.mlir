// Inputs depthwise.in.*.npy; depthwise.out.*.npy are what a numpy model and Arm's reference model give.
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<1x14x14x16xi8>) -> tensor<1x14x14x16xi8>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<1x14x14x16xi8>):
    %0 = "tosa.const"() <{values = dense<"0x04E7149E5E116439C830F882697B7BD0943E9E6D23474E06E50A7DA5ECE23E52CB2EC72A682EC6DA647A4AD6E9B0C92BADAC67796813909F1487A21ADB8B528EA2EA16F3BE5470A17D5EA1E8365AD1A73C8DB5F046B73DFA22521262FC9775C23CCEA3AD3CF8138EBEB36B9140F50270D2A80A6374D1233FBD57AE1B3A38C5225D6E87473FEC75CBEAA8D003D6BB54BC"> : tensor<3x3x16x1xi8>}> : () -> tensor<3x3x16x1xi8>
    %1 = "tosa.const"() <{values = dense<[-3161, 3820, 4825, 1997, 13, 394, -481, 3431, -3127, 253, 2146, -1056, 446, 1855, 4855, 1087]> : tensor<16xi32>}> : () -> tensor<16xi32>
    %2 = "tosa.const"() <{values = dense<20> : tensor<1xi8>}> : () -> tensor<1xi8>
    %3 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %4 = "tosa.depthwise_conv2d"(%arg0, %0, %1, %2, %3) <{acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}> : (tensor<1x14x14x16xi8>, tensor<3x3x16x1xi8>, tensor<16xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x14x14x16xi32>
    %5 = "tosa.const"() <{values = dense<[1777082845, 1144856258, 2000588468, 1819035631, 1134991900, 1217594695, 2067767388, 1312271612, 1133391849, 1790995290, 1773757738, 1518812019, 1417713470, 1155673274, 1830843812, 1236938239]> : tensor<16xi32>}> : () -> tensor<16xi32>
    %6 = "tosa.const"() <{values = dense<[40, 39, 39, 40, 37, 40, 38, 37, 38, 40, 38, 39, 38, 39, 40, 37]> : tensor<16xi8>}> : () -> tensor<16xi8>
    %7 = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
    %8 = "tosa.const"() <{values = dense<-77> : tensor<1xi8>}> : () -> tensor<1xi8>
    %9 = "tosa.rescale"(%4, %5, %6, %7, %8) <{input_unsigned = false, output_unsigned = false, per_channel = true, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, scale32 = true}> : (tensor<1x14x14x16xi32>, tensor<16xi32>, tensor<16xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x14x14x16xi8>
    "func.return"(%9) : (tensor<1x14x14x16xi8>) -> ()
  }) : () -> ()
}) : () -> ()

