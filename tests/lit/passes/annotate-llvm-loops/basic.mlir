// RUN: phaseline-opt %s --pass-pipeline='builtin.module(convert-scf-to-cf,convert-func-to-llvm{use-bare-ptr-memref-call-conv=true},finalize-memref-to-llvm,convert-cf-to-llvm,convert-arith-to-llvm,reconcile-unrealized-casts,annotate-llvm-loops)' | FileCheck %s

// The inner loop runs over whole vectors of eight, the outer one has a loop in it.

// CHECK: [[UNROLL:#.*]] = #llvm.loop_unroll<disable = true>
// CHECK: [[KEEP:#.*]] = #llvm.loop_annotation<unroll = [[UNROLL]]>
// CHECK-LABEL: llvm.func @rows
// CHECK: llvm.br ^{{.*}} {loop_annotation = [[KEEP]]}
// CHECK-NOT: loop_annotation
func.func @rows(%x: memref<8x24xf32>, %y: memref<8x24xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c24 = arith.constant 24 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c24 step %c1 {
      %a = memref.load %x[%i, %j] : memref<8x24xf32>
      %b = arith.mulf %a, %a : f32
      memref.store %b, %y[%i, %j] : memref<8x24xf32>
    }
  }
  return
}

// Rows that leave something over stay loops, too, where each turn of the outer loop has a row of its own.
// CHECK-LABEL: llvm.func @rests
// CHECK: llvm.br ^{{.*}} {loop_annotation = [[KEEP]]}
// CHECK-NOT: loop_annotation
func.func @rests(%x: memref<8x20xf32>, %y: memref<8x20xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c20 = arith.constant 20 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c20 step %c1 {
      %a = memref.load %x[%i, %j] : memref<8x20xf32>
      %b = memref.load %y[%i, %j] : memref<8x20xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %y[%i, %j] : memref<8x20xf32>
    }
  }
  return
}
