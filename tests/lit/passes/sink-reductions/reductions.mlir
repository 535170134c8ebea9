// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(sink-reductions))' | FileCheck %s

// Reductions keep their order, and `linalg.index` follows its loop.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d0, d3, d1)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
// CHECK-LABEL: func.func @middle
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[Y]]], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
// CHECK: linalg.index 0
// CHECK: linalg.index 2
func.func @middle(%x: memref<2x3x4x5xf32>, %y: memref<3x5xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1, d3)>],
      iterator_types = ["reduction", "parallel", "reduction", "parallel"]}
      ins(%x : memref<2x3x4x5xf32>) outs(%y : memref<3x5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 0 : index
    %k = arith.addi %i, %j : index
    %l = arith.index_cast %k : index to i32
    %m = arith.sitofp %l : i32 to f32
    %s = arith.addf %a, %m : f32
    %t = arith.addf %s, %b : f32
    linalg.yield %t : f32
  }
  return
}

// Windows are sums of loops.
// CHECK-LABEL: func.func @window
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
func.func @window(%x: memref<2x9xf32>, %w: memref<3xf32>, %y: memref<2x7xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1 + d2)>, affine_map<(d0, d1, d2) -> (d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>],
      iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<2x9xf32>, memref<3xf32>) outs(%y : memref<2x7xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}
