// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(materialize-transposes))' | FileCheck %s --implicit-check-not=tensor.empty

#t = affine_map<(d0, d1) -> (d1, d0)>
#i = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>

// A copy is one already.
// CHECK-LABEL: func.func @copy
func.func @copy(%x: tensor<128x128xf32>, %y: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %r = linalg.generic {indexing_maps = [#t, #i], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<128x128xf32>) outs(%y : tensor<128x128xf32>) {
  ^bb0(%a: f32, %c: f32):
    linalg.yield %a : f32
  } -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}

// A small operand stays in the cache; columns of two make no squares; a row is read in order.
// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<32x32xf32>, %n: tensor<2x8192xf32>, %b: tensor<32xf32>, %y: tensor<32x32xf32>, %z: tensor<8192x2xf32>)
    -> (tensor<32x32xf32>, tensor<8192x2xf32>) {
  %r = linalg.generic {indexing_maps = [#t, #row, #i], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<32x32xf32>, tensor<32xf32>) outs(%y : tensor<32x32xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<32x32xf32>
  %q = linalg.generic {indexing_maps = [#t, #i], iterator_types = ["parallel", "parallel"]}
      ins(%n : tensor<2x8192xf32>) outs(%z : tensor<8192x2xf32>) {
  ^bb0(%a: f32, %d: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<8192x2xf32>
  return %r, %q : tensor<32x32xf32>, tensor<8192x2xf32>
}

// Sums are no elements that are computed once.
// CHECK-LABEL: func.func @sums
func.func @sums(%x: tensor<128x128xf32>, %y: tensor<128xf32>) -> tensor<128xf32> {
  %r = linalg.generic {indexing_maps = [#t, #row], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<128x128xf32>) outs(%y : tensor<128xf32>) {
  ^bb0(%a: f32, %d: f32):
    %s = arith.addf %a, %d : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  return %r : tensor<128xf32>
}

// CHECK-LABEL: func.func @inner_sums
#a = affine_map<(d0, d1, d2) -> (d2, d1, d0)>
#o = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @inner_sums(%x: tensor<64x64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.generic {indexing_maps = [#a, #o], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<64x64x64xf32>) outs(%y : tensor<64x64xf32>) {
  ^bb0(%a: f32, %d: f32):
    %s = arith.addf %a, %d : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
