// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(collapse-loops))' | FileCheck %s

#two = affine_map<(d0, d1) -> (d0, d1)>
#swap = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-NOT: memref.collapse_shape

// Another order.
func.func @transposed(%x: memref<8x16xf32>, %y: memref<16x8xf32>) {
  linalg.generic {indexing_maps = [#swap, #two], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x16xf32>) outs(%y : memref<16x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// A sum is no row of its results.
func.func @sum(%x: memref<8x16xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [#two, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x16xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = arith.addf %p, %o : f32
    linalg.yield %0 : f32
  }
  return
}

// Gaps between rows.
func.func @gaps(%x: memref<8x32xf32>, %y: memref<8x16xf32>) {
  %s = memref.subview %x[0, 0] [8, 16] [1, 1] : memref<8x32xf32> to memref<8x16xf32, strided<[32, 1]>>
  linalg.copy ins(%s : memref<8x16xf32, strided<[32, 1]>>) outs(%y : memref<8x16xf32>)
  return
}

// The body asks for the place.
func.func @index(%y: memref<8x16xindex>) {
  linalg.generic {indexing_maps = [#two], iterator_types = ["parallel", "parallel"]} outs(%y : memref<8x16xindex>) {
  ^bb0(%o: index):
    %0 = linalg.index 1 : index
    linalg.yield %0 : index
  }
  return
}

// Sizes that are not known.
func.func @dynamic(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  linalg.copy ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  return
}
