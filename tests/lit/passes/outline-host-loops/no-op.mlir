// RUN: phaseline-opt %s --pass-pipeline='builtin.module(outline-host-loops{target=llvm})' | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Little to do, a size that is unknown, a value that is no buffer, and another target's function.
// CHECK-NOT: tir.call_extern
func.func @main(%x: memref<16xf32>, %y: memref<?xf32>, %z: memref<4096xf32>, %f: f32) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : memref<16xf32>) {
  ^bb0(%out: f32):
    %0 = arith.addf %out, %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%y : memref<?xf32>) {
  ^bb0(%out: f32):
    %0 = arith.addf %out, %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%z : memref<4096xf32>) {
  ^bb0(%out: f32):
    linalg.yield %f : f32
  }
  return
}

func.func @device(%z: memref<4096xf32>) attributes {phl.target = "npu"} {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%z : memref<4096xf32>) {
  ^bb0(%out: f32):
    %0 = arith.addf %out, %out : f32
    linalg.yield %0 : f32
  }
  return
}
