// RUN: phaseline-opt %s --pass-pipeline='builtin.module(outline-host-loops)' | FileCheck %s

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#swap = affine_map<(d0, d1, d2) -> (d0, d2, d1)>

// The last two dimensions change places: squares in registers. The rest is a task's: batches and lines.
// CHECK-LABEL: func.func @main
// CHECK: %[[TASKS:.+]] = arith.constant 8 : index
// CHECK: tir.call_extern @[[SQUARES:model_loops_[0-9a-f]+]](%{{.*}}, %[[TASKS]] : index, index)
// CHECK-NOT: accumulate
func.func @main(%x: memref<4x197x384xf32>, %y: memref<4x384x197xf32>, %few: memref<4x3x384xi8>,
                %last: memref<4x384x3xi8>) {
  linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<4x197x384xf32>) outs(%y : memref<4x384x197xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  // Three bytes are too few for a square.
  linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%few : memref<4x3x384xi8>) outs(%last : memref<4x384x3xi8>) {
  ^bb0(%in: i8, %out: i8):
    linalg.yield %in : i8
  }
  return
}
// CHECK: func.func private @[[SQUARES]](
// CHECK-COUNT-8: vector.load
// CHECK-COUNT-24: vector.shuffle
// CHECK-COUNT-8: vector.store
// CHECK: func.func private
// CHECK: linalg.generic
