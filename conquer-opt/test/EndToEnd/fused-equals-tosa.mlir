// The module with kernels gives the very bytes of the module that IREE makes from the TOSA form: odd sizes, asymmetric padding,
// stride 2, zero points at both ends, i8 and f32 results, on one and on two threads.
// REQUIRES: iree, x86_64
// RUN: conquer-opt %s --mlir-print-op-generic -o %t.tosa.mlir
// RUN: conquer-opt %s --conquer-fuse-pipeline="profile=x86-64 profile-dir=%profiles" --conquer-lower-pipeline="profile=x86-64 profile-dir=%profiles" -o %t.lowered.mlirbc
// RUN: iree-compile %t.tosa.mlir %iree-flags -o %t.tosa.vmfb
// RUN: iree-compile %t.lowered.mlirbc %iree-flags --iree-hal-executable-object-search-path=%kernels -o %t.vmfb
// RUN: iree-run-module --module=%t.tosa.vmfb --device=local-sync --function=main --input="1x7x5x3xi8=-128 127 -106 115 -72 -15 -77 122 -88 3 115 5 102 101 68 62 19 20 84 -19 114 96 -33 -23 54 108 -104 -111 -65 -18 -87 4 10 115 62 -64 73 78 46 45 -49 55 -94 33 107 120 -52 -43 30 -27 59 -77 -85 -116 -8 -74 -52 106 80 87 23 -100 63 26 104 -6 -84 24 -12 40 -32 -50 -96 118 65 -9 -68 32 -23 34 -105 -81 60 -113 45 -23 -128 67 51 80 101 58 87 -100 107 105 49 77 61 96 99 5 80 106 -52" --output=@%t.a0.npy --output=@%t.a1.npy --output=@%t.a2.npy
// RUN: iree-run-module --module=%t.vmfb --device=local-sync --function=main --input="1x7x5x3xi8=-128 127 -106 115 -72 -15 -77 122 -88 3 115 5 102 101 68 62 19 20 84 -19 114 96 -33 -23 54 108 -104 -111 -65 -18 -87 4 10 115 62 -64 73 78 46 45 -49 55 -94 33 107 120 -52 -43 30 -27 59 -77 -85 -116 -8 -74 -52 106 80 87 23 -100 63 26 104 -6 -84 24 -12 40 -32 -50 -96 118 65 -9 -68 32 -23 34 -105 -81 60 -113 45 -23 -128 67 51 80 101 58 87 -100 107 105 49 77 61 96 99 5 80 106 -52" --output=@%t.b0.npy --output=@%t.b1.npy --output=@%t.b2.npy
// RUN: cmp %t.a0.npy %t.b0.npy
// RUN: cmp %t.a1.npy %t.b1.npy
// RUN: cmp %t.a2.npy %t.b2.npy
// RUN: iree-run-module --module=%t.vmfb --device=local-task --task_topology_group_count=2 --function=main --input="1x7x5x3xi8=-128 127 -106 115 -72 -15 -77 122 -88 3 115 5 102 101 68 62 19 20 84 -19 114 96 -33 -23 54 108 -104 -111 -65 -18 -87 4 10 115 62 -64 73 78 46 45 -49 55 -94 33 107 120 -52 -43 30 -27 59 -77 -85 -116 -8 -74 -52 106 80 87 23 -100 63 26 104 -6 -84 24 -12 40 -32 -50 -96 118 65 -9 -68 32 -23 34 -105 -81 60 -113 45 -23 -128 67 51 80 101 58 87 -100 107 105 49 77 61 96 99 5 80 106 -52" --output=@%t.c0.npy --output=@%t.c1.npy --output=@%t.c2.npy
// RUN: cmp %t.a2.npy %t.c2.npy

func.func @main(%x: tensor<1x7x5x3xi8>) -> (tensor<1x4x3x5xi8>, tensor<1x4x3x5xi8>, tensor<1x4x3x7xf32>) {
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %low = "tosa.const"() <{values = dense<-128> : tensor<1xi8>}> : () -> tensor<1xi8>
  %high = "tosa.const"() <{values = dense<127> : tensor<1xi8>}> : () -> tensor<1xi8>
  %w1 = "tosa.const"() <{values = dense<"0x71202F65144655BA8FCDC95F69820052A24C9FF851CED8C738C17DF2FA01150E027E4E4B331FD77DF7B758A95B1D9E8CF28AA50478F74F6A5221F104C4FFE1C07E8499B2783161B438DFFD811E542AA809C57761B002705935248B3EF998BF0A3A021D5F2FDD25199C9029E319D3BAA7E251E7E1137AE517F11BF2230C2D74A710F1DCBE8EE753"> : tensor<5x3x3x3xi8>}> : () -> tensor<5x3x3x3xi8>
  %b1 = "tosa.const"() <{values = dense<[-2420, -564, 2806, 2708, -1710]> : tensor<5xi32>}> : () -> tensor<5xi32>
  %wd = "tosa.const"() <{values = dense<"0x5858FC711B677512C8A610B2406DBF0D8DAFE1627824151290E07BE9B7BE368A786011F8430CFAD3F2408F8738"> : tensor<3x3x5x1xi8>}> : () -> tensor<3x3x5x1xi8>
  %bd = "tosa.const"() <{values = dense<[-767, 1822, -2818, 2443, -2263]> : tensor<5xi32>}> : () -> tensor<5xi32>
  %w2 = "tosa.const"() <{values = dense<"0x2ED88F17C82F5DDB670508444A687FA7EA6FCF8213413E4F25A359EB595078845D21FC"> : tensor<7x1x1x5xi8>}> : () -> tensor<7x1x1x5xi8>
  %b2 = "tosa.const"() <{values = dense<[1758, 2713, 78, -2476, 1355, -1617, -1642]> : tensor<7xi32>}> : () -> tensor<7xi32>

  %acc1 = tosa.conv2d %x, %w1, %b1, %low, %zero {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 2, 0>, stride = array<i64: 2, 2>} : (tensor<1x7x5x3xi8>, tensor<5x3x3x3xi8>, tensor<5xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x3x5xi32>
  %q1_f = tosa.cast %acc1 : (tensor<1x4x3x5xi32>) -> tensor<1x4x3x5xf32>
  %q1_m = "tosa.const"() <{values = dense<[[[[3.687060671e-03, 2.201680327e-03, 4.496308044e-03, 3.648858983e-03, 1.526463311e-03]]]]> : tensor<1x1x1x5xf32>}> : () -> tensor<1x1x1x5xf32>
  %q1_s = tosa.mul %q1_f, %q1_m, %zero : (tensor<1x4x3x5xf32>, tensor<1x1x1x5xf32>, tensor<1xi8>) -> tensor<1x4x3x5xf32>
  %q1_c = tosa.clamp %q1_s {min_val = 0.0 : f32, max_val = 254.0 : f32} : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
  %q1_i = tosa.cast %q1_c : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xi32>
  %q1_z = "tosa.const"() <{values = dense<-127> : tensor<1x1x1x1xi32>}> : () -> tensor<1x1x1x1xi32>
  %q1_a = tosa.add %q1_i, %q1_z : (tensor<1x4x3x5xi32>, tensor<1x1x1x1xi32>) -> tensor<1x4x3x5xi32>
  %q1 = tosa.cast %q1_a : (tensor<1x4x3x5xi32>) -> tensor<1x4x3x5xi8>

  %accd = tosa.depthwise_conv2d %q1, %wd, %bd, %high, %zero {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x3x5xi8>, tensor<3x3x5x1xi8>, tensor<5xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x3x5xi32>
  %qd_f = tosa.cast %accd : (tensor<1x4x3x5xi32>) -> tensor<1x4x3x5xf32>
  %qd_m = "tosa.const"() <{values = dense<[[[[4.868593067e-03, 3.631043015e-03, 2.712880960e-03, 3.094960470e-03, 4.491236992e-03]]]]> : tensor<1x1x1x5xf32>}> : () -> tensor<1x1x1x5xf32>
  %qd_s = tosa.mul %qd_f, %qd_m, %zero : (tensor<1x4x3x5xf32>, tensor<1x1x1x5xf32>, tensor<1xi8>) -> tensor<1x4x3x5xf32>
  %qd_c = tosa.clamp %qd_s {min_val = -100.0 : f32, max_val = 155.0 : f32} : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
  %qd_i = tosa.cast %qd_c : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xi32>
  %qd_z = "tosa.const"() <{values = dense<-28> : tensor<1x1x1x1xi32>}> : () -> tensor<1x1x1x1xi32>
  %qd_a = tosa.add %qd_i, %qd_z : (tensor<1x4x3x5xi32>, tensor<1x1x1x1xi32>) -> tensor<1x4x3x5xi32>
  %qd = tosa.cast %qd_a : (tensor<1x4x3x5xi32>) -> tensor<1x4x3x5xi8>

  %acc2 = tosa.conv2d %qd, %w2, %b2, %zero, %zero {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x3x5xi8>, tensor<7x1x1x5xi8>, tensor<7xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x3x7xi32>
  %q2_f = tosa.cast %acc2 : (tensor<1x4x3x7xi32>) -> tensor<1x4x3x7xf32>
  %q2_m = "tosa.const"() <{values = dense<[[[[1.794084557e-03, 2.452507848e-03, 1.717624138e-03, 2.384245861e-03, 4.792496096e-03, 3.293330781e-03, 2.360272221e-03]]]]> : tensor<1x1x1x7xf32>}> : () -> tensor<1x1x1x7xf32>
  %q2_s = tosa.mul %q2_f, %q2_m, %zero : (tensor<1x4x3x7xf32>, tensor<1x1x1x7xf32>, tensor<1xi8>) -> tensor<1x4x3x7xf32>
  %q2_c = tosa.clamp %q2_s {min_val = -20.0 : f32, max_val = 30.0 : f32} : (tensor<1x4x3x7xf32>) -> tensor<1x4x3x7xf32>

  return %q1, %qd, %q2_c : tensor<1x4x3x5xi8>, tensor<1x4x3x5xi8>, tensor<1x4x3x7xf32>
}
