// RUN: phaseline-opt %s --pass-pipeline='builtin.module(order-operations)' | FileCheck %s

// A buffer that is filled first is only read last: it is made when the chain before is over.
// CHECK-LABEL: func.func @late
// CHECK: memref.copy %arg0, %[[A:.*]] :
// CHECK-NEXT: call @halve(%[[A]], %[[B:[a-z0-9_]+]])
// CHECK-NEXT: linalg.fill {{.*}} outs(%[[W:.*]] :
// CHECK-NEXT: call @both(%[[B]], %[[W]], %arg1)
func.func private @halve(memref<64xf32>, memref<32xf32>)
func.func private @both(memref<32xf32>, memref<64xf32>, memref<32xf32>)
func.func @late(%x: memref<64xf32>, %y: memref<32xf32>) {
  %one = arith.constant 1.0 : f32
  %w = memref.alloc() : memref<64xf32>
  linalg.fill ins(%one : f32) outs(%w : memref<64xf32>)
  %a = memref.alloc() : memref<64xf32>
  memref.copy %x, %a : memref<64xf32> to memref<64xf32>
  %b = memref.alloc() : memref<32xf32>
  call @halve(%a, %b) : (memref<64xf32>, memref<32xf32>) -> ()
  call @both(%b, %w, %y) : (memref<32xf32>, memref<64xf32>, memref<32xf32>) -> ()
  return
}

// Parts go into the whole one by one, so that no two of them are there at once.
// CHECK-LABEL: func.func @parts
// CHECK: linalg.fill {{.*}} outs(%[[A:.*]] :
// CHECK: memref.copy %[[A]], %{{.*}}
// CHECK: linalg.fill {{.*}} outs(%[[B:.*]] :
// CHECK: memref.copy %[[B]], %{{.*}}
func.func @parts(%y: memref<128xf32>) {
  %one = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<64xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<64xf32>)
  %b = memref.alloc() : memref<64xf32>
  linalg.fill ins(%one : f32) outs(%b : memref<64xf32>)
  %first = memref.subview %y[0] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1]>>
  %second = memref.subview %y[64] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: 64>>
  memref.copy %a, %first : memref<64xf32> to memref<64xf32, strided<[1]>>
  memref.copy %b, %second : memref<64xf32> to memref<64xf32, strided<[1], offset: 64>>
  return
}

// A call of a function outside that has buffers to write to uses nothing else, and moves as well.
// CHECK-LABEL: func.func @outside
// CHECK: tir.call_extern @first
// CHECK: tir.call_extern @second
// CHECK: tir.call_extern @large
func.func @outside(%x: memref<64xf32>, %y: memref<32xf32>) {
  %w = memref.alloc() : memref<64xf32>
  tir.call_extern @large ins(%x : memref<64xf32>) outs(%w : memref<64xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  %a = memref.alloc() : memref<64xf32>
  tir.call_extern @first ins(%x : memref<64xf32>) outs(%a : memref<64xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  %b = memref.alloc() : memref<32xf32>
  tir.call_extern @second ins(%a : memref<64xf32>) outs(%b : memref<32xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  tir.call_extern @third ins(%b, %w : memref<32xf32>, memref<64xf32>) outs(%y : memref<32xf32>) args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<outs 0>]
  return
}
