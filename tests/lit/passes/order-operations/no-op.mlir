// RUN: phaseline-opt %s --pass-pipeline='builtin.module(order-operations)' | FileCheck %s

// The second fill writes over what the copy reads: it has to stay behind it.
// CHECK-LABEL: func.func @written_again
// CHECK: linalg.fill
// CHECK-NEXT: memref.copy
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: memref.copy
func.func @written_again(%y: memref<64xf32>, %z: memref<64xf32>) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %a = memref.alloc() : memref<64xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<64xf32>)
  memref.copy %a, %y : memref<64xf32> to memref<64xf32>
  linalg.fill ins(%two : f32) outs(%a : memref<64xf32>)
  memref.copy %a, %z : memref<64xf32> to memref<64xf32>
  return
}

// Another order would take less, but what these operations do besides is not known.
// CHECK-LABEL: func.func @unknown
// CHECK: linalg.fill {{.*}} outs(%[[W:.*]] :
// CHECK: memref.copy %arg0
// CHECK: memref.extract_aligned_pointer_as_index
func.func private @halve(memref<64xf32>, memref<32xf32>, index)
func.func private @both(memref<32xf32>, memref<64xf32>, memref<32xf32>)
func.func @unknown(%x: memref<64xf32>, %y: memref<32xf32>) {
  %one = arith.constant 1.0 : f32
  %w = memref.alloc() : memref<64xf32>
  linalg.fill ins(%one : f32) outs(%w : memref<64xf32>)
  %a = memref.alloc() : memref<64xf32>
  memref.copy %x, %a : memref<64xf32> to memref<64xf32>
  %b = memref.alloc() : memref<32xf32>
  %c = memref.extract_aligned_pointer_as_index %b : memref<32xf32> -> index
  call @halve(%a, %b, %c) : (memref<64xf32>, memref<32xf32>, index) -> ()
  call @both(%b, %w, %y) : (memref<32xf32>, memref<64xf32>, memref<32xf32>) -> ()
  return
}

// A call that sets something stays where it is among those of functions outside.
// CHECK-LABEL: func.func @set
// CHECK: tir.call_extern @large
// CHECK-NEXT: tir.call_extern @set_mode args []
// CHECK: tir.call_extern @first
func.func @set(%x: memref<64xf32>, %y: memref<32xf32>) {
  %w = memref.alloc() : memref<64xf32>
  tir.call_extern @large ins(%x : memref<64xf32>) outs(%w : memref<64xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  tir.call_extern @set_mode args []
  %a = memref.alloc() : memref<64xf32>
  tir.call_extern @first ins(%x : memref<64xf32>) outs(%a : memref<64xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  %b = memref.alloc() : memref<32xf32>
  tir.call_extern @second ins(%a : memref<64xf32>) outs(%b : memref<32xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  tir.call_extern @third ins(%b, %w : memref<32xf32>, memref<64xf32>) outs(%y : memref<32xf32>) args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>]
  return
}
