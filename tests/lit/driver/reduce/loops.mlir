// RUN: phaseline-opt %s --reduce-with 'grep -q llvm.fmul' 2>/dev/null | FileCheck %s

// The edge back goes to the end, so that the body stays without its loop.
// CHECK: llvm.func @f(%[[X:.*]]: f32) {
// CHECK-NEXT: llvm.fmul %[[X]], %[[X]] : f32
// CHECK-NEXT: llvm.return
// CHECK-NEXT: }
llvm.func @f(%n: i64, %x: f32, %p: !llvm.ptr) {
  %0 = llvm.mlir.constant(0 : i64) : i64
  %1 = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%0 : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^body, ^end
^body:
  %2 = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %3 = llvm.load %2 : !llvm.ptr -> f32
  %4 = llvm.fmul %3, %x : f32
  llvm.store %4, %2 : f32, !llvm.ptr
  %next = llvm.add %i, %1 : i64
  llvm.br ^head(%next : i64)
^end:
  llvm.return
}
