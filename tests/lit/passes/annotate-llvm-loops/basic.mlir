// RUN: phaseline-opt %s --pass-pipeline='builtin.module(convert-scf-to-cf,convert-func-to-llvm{use-bare-ptr-memref-call-conv=true},finalize-memref-to-llvm,convert-cf-to-llvm,convert-arith-to-llvm,reconcile-unrealized-casts,annotate-llvm-loops)' | FileCheck %s

// The inner loop runs over whole vectors of eight, the outer one has a loop in it.

// CHECK-DAG: [[UNROLL:#.*]] = #llvm.loop_unroll<disable = true>
// CHECK-DAG: [[VECTORIZE:#.*]] = #llvm.loop_vectorize<disable = true>
// CHECK-DAG: [[KEEP:#.*]] = #llvm.loop_annotation<unroll = [[UNROLL]]>
// CHECK-DAG: [[SCALAR:#.*]] = #llvm.loop_annotation<vectorize = [[VECTORIZE]]>
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

// Each turn of the outer loop adds to the same row: that one is unrolled, and the outer loop is not to become vectors.
// CHECK-LABEL: llvm.func @sums
// CHECK-NOT: loop_annotation
// CHECK: llvm.br ^bb1({{.*}} {loop_annotation = [[SCALAR]]}
// CHECK-NOT: loop_annotation
func.func @sums(%x: memref<24xf32>, %y: memref<8x23xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c23 = arith.constant 23 : index
  scf.for %j = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c23 step %c1 {
      %a = memref.load %x[%i] : memref<24xf32>
      %b = memref.load %y[%j, %i] : memref<8x23xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %x[%i] : memref<24xf32>
    }
  }
  return
}

// Sums of whole vectors, too.
// CHECK-LABEL: llvm.func @whole_sums
// CHECK-NOT: loop_annotation
// CHECK: llvm.br ^bb1({{.*}} {loop_annotation = [[SCALAR]]}
// CHECK-NOT: loop_annotation
func.func @whole_sums(%x: memref<16xf32>, %y: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  scf.for %j = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c16 step %c1 {
      %a = memref.load %x[%i] : memref<16xf32>
      %b = memref.load %y[%j, %i] : memref<8x16xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %x[%i] : memref<16xf32>
    }
  }
  return
}
