// RUN: phaseline-opt %s --canonicalize --cse --loop-invariant-code-motion | FileCheck %s

// On tensors a call is a function: unused and repeated calls go.
// CHECK-LABEL: func.func @on_tensors
func.func @on_tensors(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[R:.*]] = tir.call_extern @f
  // CHECK-NOT: tir.call_extern
  // CHECK: return %[[R]], %[[R]]
  %init = tensor.empty() : tensor<8xf32>
  %r = tir.call_extern @f ins(%a : tensor<8xf32>) outs(%init : tensor<8xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>] -> tensor<8xf32>
  %s = tir.call_extern @f ins(%a : tensor<8xf32>) outs(%init : tensor<8xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>] -> tensor<8xf32>
  %unused = tir.call_extern @g ins(%a : tensor<8xf32>) outs(%init : tensor<8xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>] -> tensor<8xf32>
  return %r, %s : tensor<8xf32>, tensor<8xf32>
}

// On memrefs every call stays, also those without operands, and no load crosses
// one that writes its buffer.
// CHECK-LABEL: func.func @on_memrefs
func.func @on_memrefs(%a: memref<8xf32>, %b: memref<8xf32>) -> (f32, f32, f32, f32) {
  // CHECK: tir.call_extern @f
  // CHECK: tir.call_extern @f
  // CHECK: tir.call_extern @barrier
  // CHECK: tir.call_extern @barrier
  // CHECK: %[[A:.*]] = memref.load
  // CHECK: %[[OLD:.*]] = memref.load
  // CHECK: tir.call_extern @f
  // CHECK: %[[NEW:.*]] = memref.load
  // CHECK: return %[[A]], %[[OLD]]
  %c0 = arith.constant 0 : index
  tir.call_extern @f ins(%a : memref<8xf32>) outs(%b : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  tir.call_extern @f ins(%a : memref<8xf32>) outs(%b : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  tir.call_extern @barrier args []
  tir.call_extern @barrier args []
  %x = memref.load %a[%c0] : memref<8xf32>
  %old = memref.load %b[%c0] : memref<8xf32>
  tir.call_extern @f ins(%a : memref<8xf32>) outs(%b : memref<8xf32>) args [#tir.arg<ins 0>, #tir.arg<outs 0>]
  %y = memref.load %a[%c0] : memref<8xf32>
  %new = memref.load %b[%c0] : memref<8xf32>
  return %x, %old, %y, %new : f32, f32, f32, f32
}

// Transfers are neither merged, dropped nor hoisted, and no load crosses a wait.
// CHECK-LABEL: func.func @transfers
func.func @transfers(%a: memref<8xf32>, %b: memref<8xf32>, %n: index) -> (f32, f32) {
  // CHECK: memref.load
  // CHECK: scf.for
  // CHECK-NEXT: %[[T:.*]] = tir.dma_start
  // CHECK-NEXT: %[[U:.*]] = tir.dma_start
  // CHECK-NEXT: tir.dma_wait %[[T]]
  // CHECK-NEXT: tir.dma_wait %[[U]]
  // CHECK-NEXT: tir.dma_copy
  // CHECK-NEXT: tir.dma_copy
  // CHECK: memref.load
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %old = memref.load %a[%c0] : memref<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %t = tir.dma_start %a to %b channel(0) : memref<8xf32> to memref<8xf32>
    %u = tir.dma_start %a to %b channel(0) : memref<8xf32> to memref<8xf32>
    tir.dma_wait %t
    tir.dma_wait %u
    tir.dma_copy %a to %b channel(0) : memref<8xf32> to memref<8xf32>
    tir.dma_copy %a to %b channel(0) : memref<8xf32> to memref<8xf32>
  }
  %new = memref.load %a[%c0] : memref<8xf32>
  return %old, %new : f32, f32
}

// Equal planned buffers are one, unused ones go.
// CHECK-LABEL: func.func @buffers
func.func @buffers() {
  // CHECK-NEXT: %[[B:.*]] = tir.buffer at 64
  // CHECK-NEXT: tir.call_extern @f ins(%[[B]], %[[B]]
  %b = tir.buffer at 64 : memref<8xf32, #tir.space<"p">>
  %c = tir.buffer at 64 : memref<8xf32, #tir.space<"p">>
  %unused = tir.buffer at 128 : memref<8xf32, #tir.space<"p">>
  tir.call_extern @f ins(%b, %c : memref<8xf32, #tir.space<"p">>, memref<8xf32, #tir.space<"p">>)
      args [#tir.arg<ins 0, offset>, #tir.arg<ins 1, offset>] {with_device}
  return
}
