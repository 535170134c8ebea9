// RUN: phaseline-opt %s --pass-pipeline='builtin.module(outline-host-loops)' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d0, 0)>

// Equal loops are one function. A reduction reads what it writes; the others overwrite.
// CHECK-LABEL: func.func @main
// CHECK: tir.call_extern @[[EXP:model_loops_[0-9a-f]+]](%{{.*}}, %{{.*}} : index, index) ins(%arg0 : memref<64x1024xf32>) outs(%arg1 : memref<64x1024xf32>)
// CHECK-NOT: accumulate
// CHECK: tir.call_extern @[[EXP]](%{{.*}}, %{{.*}} : index, index) ins(%arg1 : memref<64x1024xf32>) outs(%arg0 : memref<64x1024xf32>)
// CHECK: tir.call_extern @[[SUM:model_loops_[0-9a-f]+]]
// CHECK-SAME: outs(%arg2 : memref<64xf32>)
// CHECK-SAME: accumulate
// CHECK-NEXT: return
func.func @main(%x: memref<64x1024xf32>, %y: memref<64x1024xf32>, %s: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x1024xf32>) outs(%y : memref<64x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<64x1024xf32>) outs(%x : memref<64x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x1024xf32>) outs(%s : memref<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  return
}

// Views, constants and what the body takes for its index move along; short loops are no kernels.
// CHECK-LABEL: func.func @views
// CHECK: tir.call_extern @[[FILL:model_loops_[0-9a-f]+]] outs(%arg0 : memref<4096xf32>)
// CHECK-SAME: accumulate
// CHECK: tir.call_extern @[[IOTA:model_loops_[0-9a-f]+]](%{{.*}}, %{{.*}} : index, index) outs(%arg1
func.func @views(%x: memref<4096xf32>, %y: memref<512x1024xi64>) {
  %one = arith.constant 1.0 : f32
  %part = memref.subview %x[1024] [1024] [1] : memref<4096xf32> to memref<1024xf32, strided<[1], offset: 1024>>
  %matrix = memref.expand_shape %part [[0, 1]] output_shape [32, 32]
      : memref<1024xf32, strided<[1], offset: 1024>> into memref<32x32xf32, strided<[32, 1], offset: 1024>>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%matrix : memref<32x32xf32, strided<[32, 1], offset: 1024>>) {
  ^bb0(%out: f32):
    linalg.yield %one : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%y : memref<512x1024xi64>) {
  ^bb0(%out: i64):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i64
    linalg.yield %1 : i64
  }
  return
}

// Long loops are kernels: a task is a part of the rows.
// CHECK: func.func private @[[EXP]](%[[X:.*]]: memref<64x1024xf32>, %[[Y:.*]]: memref<64x1024xf32>, %[[LO:.*]]: index, %[[HI:.*]]: index)
// CHECK-SAME: phl.kernel
// CHECK: %[[FROM:.*]] = arith.muli %[[LO]]
// CHECK: memref.subview %[[X]][%[[FROM]], 0] [%{{.*}}, 1024] [1, 1]
// CHECK: memref.subview %[[Y]][%[[FROM]], 0]
// CHECK: linalg.generic
// CHECK: math.exp

// CHECK: func.func private @[[SUM]]
// CHECK: iterator_types = ["parallel", "reduction"]

// CHECK: func.func private @[[FILL]](%[[X:.*]]: memref<4096xf32>) attributes {passthrough = ["noinline"]}
// CHECK: memref.subview %[[X]][1024] [1024] [1]
// CHECK: memref.expand_shape
// CHECK: func.func private @[[IOTA]]
// CHECK: %[[FROM:.*]] = arith.muli
// CHECK: %[[AT:.*]] = linalg.index 0
// CHECK: arith.addi %[[AT]], %[[FROM]]
