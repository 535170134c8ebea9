// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(fuse-elementwise-ops))" | FileCheck %s

// An op that adds to its result is not put into loops that it does not have: it would add several times.

#row = affine_map<(d0) -> (d0)>
#wide = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @repeated
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK-NOT: arith.addf
// CHECK: arith.mulf
func.func @repeated(%x: tensor<3xf32>, %y: tensor<3x4xf32>, %into: tensor<3xf32>, %out: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%into : tensor<3xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %2 = arith.addf %a, %sum : f32
    linalg.yield %2 : f32
  } -> tensor<3xf32>
  %1 = linalg.generic {indexing_maps = [#first, #wide, #wide], iterator_types = ["parallel", "parallel"]}
      ins(%0, %y : tensor<3xf32>, tensor<3x4xf32>) outs(%out : tensor<3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %2 = arith.mulf %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// Loops that both have are one.

// CHECK-LABEL: func.func @once
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK: arith.mulf
// CHECK-NOT: linalg.generic
func.func @once(%x: tensor<3xf32>, %y: tensor<3xf32>, %into: tensor<3xf32>, %out: tensor<3xf32>) -> tensor<3xf32> {
  %0 = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%into : tensor<3xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %2 = arith.addf %a, %sum : f32
    linalg.yield %2 : f32
  } -> tensor<3xf32>
  %1 = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
      ins(%0, %y : tensor<3xf32>, tensor<3xf32>) outs(%out : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %2 = arith.mulf %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
