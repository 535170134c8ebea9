// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(skip-padding))' | FileCheck %s

// Padding that takes part in the result stays: zeros in a maximum, and in a sum with an offset.
// CHECK-LABEL: func.func @zeros_in_a_maximum
// CHECK: tensor.pad
// CHECK: linalg.generic
#x = affine_map<(w, k) -> (w + k)>
#k = affine_map<(w, k) -> (k)>
#y = affine_map<(w, k) -> (w)>
func.func @zeros_in_a_maximum(%x: tensor<8xf32>, %k: tensor<3xi1>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[1] high[1] {
  ^bb0(%a: index):
    tensor.yield %zero : f32
  } : tensor<8xf32> to tensor<10xf32>
  %r = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %k : tensor<10xf32>, tensor<3xi1>) outs(%y : tensor<8xf32>) {
  ^bb0(%a: f32, %b: i1, %s: f32):
    %m = arith.maximumf %s, %a : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @offset
// CHECK: tensor.pad
// CHECK: linalg.generic
func.func @offset(%x: tensor<8xi32>, %k: tensor<3xi32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  %zero = arith.constant 0 : i32
  %three = arith.constant 3 : i32
  %padded = tensor.pad %x low[1] high[1] {
  ^bb0(%a: index):
    tensor.yield %zero : i32
  } : tensor<8xi32> to tensor<10xi32>
  %r = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %k : tensor<10xi32>, tensor<3xi32>) outs(%y : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32, %s: i32):
    %d = arith.subi %a, %three : i32
    %p = arith.muli %d, %b : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}
