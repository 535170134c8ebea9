// RUN: phaseline-opt %s --reduce-with "grep -q -e bb3: -e bb3.%%" 2>/dev/null | FileCheck %s

// An argument of a block goes, and so do the operands of all branches to it.
// CHECK: func.func @f(%[[C:.*]]: i1) {
// CHECK-NEXT: cf.cond_br %[[C]], ^[[YES:bb[0-9]+]], ^[[NO:bb[0-9]+]]
// CHECK-NEXT: ^[[YES]]:
// CHECK-NEXT: cf.br ^[[END:bb[0-9]+]]
// CHECK-NEXT: ^[[NO]]:
// CHECK-NEXT: cf.br ^[[END]]
// CHECK-NEXT: ^[[END]]:
// CHECK-NEXT: return
func.func @f(%a: i32, %b: f32, %c: i1) -> f32 {
  cf.cond_br %c, ^yes(%b, %a : f32, i32), ^no(%a, %b : i32, f32)
^yes(%x: f32, %y: i32):
  %0 = arith.addi %y, %a : i32
  cf.br ^end(%x, %0, %x : f32, i32, f32)
^no(%z: i32, %v: f32):
  %1 = arith.addi %z, %z : i32
  cf.br ^end(%v, %1, %v : f32, i32, f32)
^end(%p: f32, %q: i32, %r: f32):
  %2 = arith.sitofp %q : i32 to f32
  %3 = arith.mulf %2, %r : f32
  return %3 : f32
}
