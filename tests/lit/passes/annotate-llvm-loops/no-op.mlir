// RUN: phaseline-opt %s --pass-pipeline='builtin.module(convert-scf-to-cf,convert-func-to-llvm{use-bare-ptr-memref-call-conv=true},finalize-memref-to-llvm,convert-cf-to-llvm,convert-arith-to-llvm,reconcile-unrealized-casts,annotate-llvm-loops)' | FileCheck %s

// What is too short, leaves something over and adds to what the loop around it meets again, is a reduction of one vector
// and a rest, is of unknown length, or has vectors already.

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

func.func @rest(%x: memref<16xf32>, %y: memref<8x15xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  scf.for %j = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c15 step %c1 {
      %a = memref.load %x[%i] : memref<16xf32>
      %b = memref.load %y[%j, %i] : memref<8x15xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %x[%i] : memref<16xf32>
    }
  }
  return
}

func.func @reduction(%x: memref<8x12xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    %sum = scf.for %j = %c0 to %c12 step %c1 iter_args(%before = %zero) -> f32 {
      %a = memref.load %x[%i, %j] : memref<8x12xf32>
      %after = arith.addf %before, %a : f32
      scf.yield %after : f32
    }
    memref.store %sum, %y[%i] : memref<8xf32>
  }
  return
}

func.func @reduction_in_memory(%x: memref<8x12xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c12 step %c1 {
      %a = memref.load %x[%i, %j] : memref<8x12xf32>
      %before = memref.load %y[%i] : memref<8xf32>
      %after = arith.addf %before, %a : f32
      memref.store %after, %y[%i] : memref<8xf32>
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
