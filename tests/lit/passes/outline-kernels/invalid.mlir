// RUN: phaseline-opt %s --pass-pipeline='builtin.module(outline-kernels{target=gpu launch=run})' -split-input-file -verify-diagnostics
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(outline-kernels{target=gpu})' 2>&1 | FileCheck --check-prefix=OPTION %s
// OPTION: outline-kernels needs the option launch

func.func @value(%x: memref<8xf32>) attributes {phl.target = "gpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{gives a value that is no buffer, which kernels of target 'gpu' cannot hand on}}
  %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %zero) -> (f32) {
    %b = memref.load %x[%i] : memref<8xf32>
    %c = arith.addf %a, %b : f32
    scf.yield %c : f32
  }
  tir.call_extern @other outs(%x : memref<8xf32>) args [#tir.arg<outs 0>]
  memref.store %s, %x[%c0] : memref<8xf32>
  return
}

// -----

func.func @late(%x: memref<i32>, %y: memref<8xi32>) attributes {phl.target = "gpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = memref.load %x[] : memref<i32>
  scf.parallel (%i) = (%c0) to (%c1) step (%c1) {
    memref.store %n, %x[] : memref<i32>
    scf.reduce
  }
  // expected-error @+1 {{needs a number that was overwritten since it was read}}
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    memref.store %n, %y[%i] : memref<8xi32>
    scf.reduce
  }
  return
}

// -----

func.func @unknown(%n: index, %y: memref<8xi32>) attributes {phl.target = "gpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  // expected-error @+1 {{uses a value of type index that kernels of target 'gpu' cannot be given}}
  scf.for %i = %c0 to %n step %c1 {
    memref.store %one, %y[%i] : memref<8xi32>
  }
  return
}
