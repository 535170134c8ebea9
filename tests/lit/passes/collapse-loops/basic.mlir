// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(collapse-loops))' | FileCheck %s

#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#inner = affine_map<(d0, d1, d2) -> (d1, d2)>
#outer = affine_map<(d0, d1, d2) -> (d0, 0, 0)>
#swap = affine_map<(d0, d1, d2) -> (d1, d0, d2)>

// CHECK: #[[TWO:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #[[INNER:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK: #[[OUTER:.*]] = affine_map<(d0, d1) -> (d0, 0, 0)>

// CHECK-LABEL: func.func @broadcast
// CHECK-DAG: %[[B:.*]] = memref.collapse_shape %arg1 {{\[}}[0, 1]]
// CHECK-DAG: %[[Y:.*]] = memref.collapse_shape %arg3 {{\[}}[0], [1, 2]]
// CHECK: linalg.generic {indexing_maps = [#[[TWO]], #[[INNER]], #[[OUTER]], #[[TWO]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%{{.*}}, %[[B]], %arg2 :
// CHECK-SAME: outs(%[[Y]] : memref<4x128xf32>)
func.func @broadcast(%a: memref<4x8x16xf32>, %b: memref<8x16xf32>, %c: memref<4x1x1xf32>, %y: memref<4x8x16xf32>) {
  linalg.generic {indexing_maps = [#all, #inner, #outer, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %b, %c : memref<4x8x16xf32>, memref<8x16xf32>, memref<4x1x1xf32>) outs(%y : memref<4x8x16xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32, %o: f32):
    %0 = arith.addf %p, %q : f32
    %1 = arith.mulf %0, %r : f32
    linalg.yield %1 : f32
  }
  return
}

// A slice of a larger buffer, which begins at a place that only running tells.
// CHECK-LABEL: func.func @slice
// CHECK: memref.collapse_shape %{{.*}} {{\[}}[0, 1]] : memref<8x16xf32, strided<[16, 1], offset: ?>> into memref<128xf32, strided<[1], offset: ?>>
// CHECK: linalg.copy ins(%{{.*}} : memref<128xf32, strided<[1], offset: ?>>) outs(%{{.*}} : memref<128xf32>)
func.func @slice(%x: memref<4x8x16xf32>, %y: memref<8x16xf32>, %at: index) {
  %s = memref.subview %x[%at, 0, 0] [1, 8, 16] [1, 1, 1] : memref<4x8x16xf32> to memref<8x16xf32, strided<[16, 1], offset: ?>>
  linalg.copy ins(%s : memref<8x16xf32, strided<[16, 1], offset: ?>>) outs(%y : memref<8x16xf32>)
  return
}

// CHECK-LABEL: func.func @fill
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : memref<512xf32>)
func.func @fill(%y: memref<4x8x16xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<4x8x16xf32>)
  return
}

// Neighbouring sums are one, and so are the rows that they are of; the one is not the other.
// CHECK-LABEL: func.func @image
// CHECK: memref.collapse_shape %arg0 {{\[\[}}0, 1], [2, 3]] : memref<2x3x4x5xf32> into memref<6x20xf32>
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
func.func @image(%x: memref<2x3x4x5xf32>, %y: memref<2x3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c)>],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x : memref<2x3x4x5xf32>) outs(%y : memref<2x3xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = arith.addf %p, %o : f32
    linalg.yield %0 : f32
  }
  return
}
