// RUN: phaseline-opt %s --reduce-with 'grep -q arith.mulf' 2>/dev/null | FileCheck %s
// RUN: phaseline-opt %s --reduce-with 'grep -q test.second' 2>/dev/null | FileCheck %s --check-prefix=ENTRY
// RUN: phaseline-opt %s --reduce-with 'grep -q memref.alloc' 2>/dev/null | FileCheck %s --check-prefix=OWN

// Attributes of dialects go first, then those that an operation may be without; others get their defaults.
// CHECK: module {
// CHECK-NEXT: func.func @f(%[[X:.*]]: f32) {
// CHECK-NEXT: arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT: return

// ENTRY: module {
// ENTRY-NEXT: func.func private @f(f32 {test.second = 2 : i64})

// OWN: memref.alloc() : memref<4xf32>
module @named attributes {test.of_module} {
  func.func @f(%x: f32 {test.first = 1 : i64, test.second = 2 : i64}, %y: f32 {test.third}) -> f32 attributes {test.of_function} {
    %0 = arith.mulf %x, %y fastmath<fast> {test.of_operation} : f32
    %m = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
    %c = arith.constant 0 : index
    memref.store %0, %m[%c] {nontemporal = true} : memref<4xf32>
    return %0 : f32
  }
}
