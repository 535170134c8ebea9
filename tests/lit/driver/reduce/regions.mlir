// RUN: phaseline-opt %s --reduce-with 'grep -q math.exp' 2>/dev/null | FileCheck %s
// RUN: phaseline-opt %s --reduce-with 'grep -q arith.divf %%s && grep -q "scf.while" %%s' 2>/dev/null | FileCheck %s --check-prefix=WHILE
// RUN: phaseline-opt %s --reduce-with 'grep -q linalg.yield' 2>/dev/null | FileCheck %s --check-prefix=GENERIC

// The operations of one region take the place of the operation, for loops and branches of any dialect.
// CHECK: func.func @f(%[[X:.*]]: f32) {
// CHECK-NEXT: math.exp %[[X]] : f32
// CHECK-NEXT: return
// CHECK-NEXT: }

// One loop stays, and the others around it go.
// WHILE-NOT: scf.for
// WHILE-NOT: scf.if
// WHILE: scf.while
// WHILE-NOT: scf.for
// WHILE-NOT: scf.if

// GENERIC: linalg.generic
// GENERIC-NEXT: ^bb0
// GENERIC-NEXT: linalg.yield
func.func @f(%n: index, %c: i1, %x: f32, %m: memref<?xf32>, %t: tensor<4xf32>) -> (f32, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (f32) {
    %v = memref.load %m[%i] : memref<?xf32>
    %s = scf.if %c -> (f32) {
      %p = arith.mulf %v, %acc : f32
      %w = scf.while (%a = %p) : (f32) -> f32 {
        %d = arith.cmpf olt, %a, %x : f32
        scf.condition(%d) %a : f32
      } do {
      ^bb0(%b: f32):
        %e = math.exp %b : f32
        %g = arith.divf %e, %v : f32
        scf.yield %g : f32
      }
      scf.yield %w : f32
    } else {
      scf.yield %v : f32
    }
    scf.yield %s : f32
  }
  %y = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%t : tensor<4xf32>) outs(%t : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %z = arith.addf %in, %out : f32
    %k = arith.mulf %z, %r : f32
    linalg.yield %k : f32
  } -> tensor<4xf32>
  return %r, %y : f32, tensor<4xf32>
}
