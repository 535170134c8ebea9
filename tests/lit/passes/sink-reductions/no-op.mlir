// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(sink-reductions))' | FileCheck %s

// Ops that are in order already, and maps that are no sums of loops, stay.
// CHECK-DAG: #[[HALF:.*]] = affine_map<(d0, d1) -> (d0 floordiv 2, d1)>
// CHECK-LABEL: func.func @last
// CHECK: iterator_types = ["parallel", "reduction"]
func.func @last(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x8xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func @divided
// CHECK: indexing_maps = [#[[HALF]], {{.*}}], iterator_types = ["reduction", "parallel"]
func.func @divided(%x: memref<2x8xf32>, %z: memref<4x8xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 floordiv 2, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]}
      ins(%x, %z : memref<2x8xf32>, memref<4x8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}
