// RUN: phaseline-opt %s --reduce-with 'grep -q arith.divsi' 2>&1 | FileCheck %s
// RUN: phaseline-opt %s --reduce-with 'grep -q cf.switch' 2>/dev/null | FileCheck %s --check-prefix=SWITCH
// RUN: phaseline-opt %s --reduce-with 'grep -q cf.switch' -o %t.mlir
// RUN: phaseline-opt %t.mlir --reduce-with 'grep -q cf.switch' -o %t.again.mlir
// RUN: diff %t.mlir %t.again.mlir

// A branch takes one side, blocks that are not reached go, and a chain becomes one block.
// CHECK: 12 operations became 3 in {{[0-9]+}} runs of the command
// CHECK: func.func @f(%[[A:.*]]: i32) {
// CHECK-NEXT: arith.divsi %[[A]], %[[A]] : i32
// CHECK-NEXT: return
// CHECK-NEXT: }

// Edges skip blocks that only go on. A switch without its values crashes MLIR's verifier, and is no candidate.
// SWITCH: cf.switch %{{.*}} : i32, [
// SWITCH-NEXT: default: ^[[ONLY:bb[0-9]+]],
// SWITCH-NEXT: 1: ^[[ONLY]],
// SWITCH-NEXT: 2: ^[[ONLY]]
// SWITCH-NEXT: ]
// SWITCH-NEXT: ^[[ONLY]]:
// SWITCH-NEXT: return
// SWITCH-NEXT: }
func.func @f(%a: i32, %b: i32, %c: i1, %u: f32) -> (i32, f32) {
  %0 = arith.addi %a, %b : i32
  cf.cond_br %c, ^bb1(%0, %a : i32, i32), ^bb2(%b : i32)
^bb1(%x: i32, %unused: i32):
  %1 = arith.muli %x, %b : i32
  cf.br ^bb3(%1, %u : i32, f32)
^bb2(%y: i32):
  %2 = arith.divsi %y, %a : i32
  cf.switch %2 : i32, [default: ^bb3(%2, %u : i32, f32), 1: ^bb1(%2, %2 : i32, i32), 2: ^bb4]
^bb3(%z: i32, %w: f32):
  %3 = arith.subi %z, %b : i32
  cf.br ^bb5
^bb4:
  %k = arith.constant 3 : i32
  cf.br ^bb3(%k, %u : i32, f32)
^bb5:
  return %3, %w : i32, f32
}
