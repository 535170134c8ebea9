// RUN: phaseline-opt %s --share-equal-loops='max-weight=1 min-body=1 min-equal=2' | FileCheck %s
// RUN: phaseline-opt %s --share-equal-loops='max-weight=1 min-body=1' | FileCheck %s --check-prefix=WHOLE
// RUN: phaseline-opt %s --share-equal-loops='min-body=1 min-equal=1' | FileCheck %s --check-prefix=WHOLE

// Two nests become calls, with the constants that they use in the function. One that writes over
// its input is another function than one with two buffers: buffers of a function do not overlap.
// WHOLE-NOT: call
// CHECK-LABEL: func.func private @main_loops0(
// CHECK-SAME: %[[X:.*]]: memref<16xf32> {phl.io = "input"}, %[[Y:.*]]: memref<16xf32> {phl.io = "output"}) attributes {phl.piece, phl.target = "llvm"}
// CHECK: %[[ONE:.*]] = arith.constant 1.0
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<16xf32>) outs(%[[Y]] : memref<16xf32>)
// CHECK: arith.addf %{{.*}}, %[[ONE]]
// CHECK: return
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[IN:.*]]: memref<16xf32> {phl.io = "input", phl.name = "x"}, %[[OUT:.*]]: memref<16xf32> {phl.io = "output"}, %{{.*}}: memref<128xi8>
// CHECK: %[[V:.*]] = memref.view
// CHECK: %[[W:.*]] = memref.view
// CHECK: tir.call_extern @main_loops0 ins(%[[IN]] : memref<16xf32>) outs(%[[V]] : memref<16xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>] {accumulate}
// CHECK: tir.call_extern @main_loops0 ins(%[[V]] : memref<16xf32>) outs(%[[W]] : memref<16xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[W]] : memref<16xf32>) outs(%[[W]] : memref<16xf32>)
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} ins(%[[W]] : memref<16xf32>) outs(%[[OUT]] : memref<16xf32>)
// CHECK: arith.subf
module {
  func.func @main(%x: memref<16xf32> {phl.io = "input", phl.name = "x"}, %y: memref<16xf32> {phl.io = "output"}, %arena: memref<128xi8> {phl.io = "arena"}) attributes {phl.target = "llvm"} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %one = arith.constant 1.0 : f32
    %v = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
    %w = memref.view %arena[%c64][] : memref<128xi8> to memref<16xf32>
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : memref<16xf32>) outs(%v : memref<16xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %one : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%v : memref<16xf32>) outs(%w : memref<16xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %one : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%w : memref<16xf32>) outs(%w : memref<16xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %one : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%w : memref<16xf32>) outs(%y : memref<16xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.subf %a, %one : f32
      linalg.yield %s : f32
    }
    return
  }
}
