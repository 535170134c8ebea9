// RUN: phaseline-opt %s --pass-pipeline='builtin.module(convert-scf-to-cf,convert-func-to-llvm{use-bare-ptr-memref-call-conv=true},finalize-memref-to-llvm,convert-cf-to-llvm,convert-arith-to-llvm,reconcile-unrealized-casts,annotate-llvm-loops)' | FileCheck %s

// Loops that are too short, have one vector and a rest, are of unknown length, or have vectors already.

// CHECK-NOT: loop_annotation
func.func @short(%x: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %x[%i] : memref<16xf32>
    memref.store %a, %x[%i] : memref<16xf32>
  }
  return
}

func.func @row(%x: memref<8x12xf32>, %y: memref<8x12xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c12 step %c1 {
      %a = memref.load %x[%i, %j] : memref<8x12xf32>
      %b = arith.mulf %a, %a : f32
      memref.store %b, %y[%i, %j] : memref<8x12xf32>
    }
  }
  return
}

func.func @unknown(%x: memref<16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<16xf32>
    memref.store %a, %x[%i] : memref<16xf32>
  }
  return
}

func.func @vectors(%x: memref<16xvector<8xf32>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    %a = memref.load %x[%i] : memref<16xvector<8xf32>>
    memref.store %a, %x[%i] : memref<16xvector<8xf32>>
  }
  return
}
