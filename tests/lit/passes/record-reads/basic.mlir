// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(record-reads))' --split-input-file | FileCheck %s

// 0 is what is there from the start. A list: operand, loops that write over what they wrote, runs, begin and end of each.
// CHECK-LABEL: func.func @buffers
// CHECK: memref.load %arg0[%{{.*}}] {phl.access = 1 : i64, phl.sees = array<i64: 0, 0, 1, 0, 1, 1, 0, 1>}
// CHECK: memref.store %{{.*}} {phl.access = 2 : i64}
// The first half and the second have one write each; the whole has both.
// CHECK: memref.copy %[[HALF:.*]], %{{.*}} {phl.access = 4 : i64, phl.sees = array<i64: 0, 0, 1, 2, 3, 1, 2, 3>}
// CHECK: call @use(%{{.*}}) {phl.access = 5 : i64, phl.sees = array<i64: 0, 0, 1, 2, 4, 1, 2, 4>}
func.func private @use(memref<8xf32>)
func.func @buffers(%x: memref<4xf32>, %z: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<8xf32>
  %first = memref.subview %y[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %second = memref.subview %y[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %x[%i] : memref<4xf32>
    memref.store %a, %y[%i] : memref<8xf32>
  }
  linalg.fill ins(%zero : f32) outs(%second : memref<4xf32, strided<[1], offset: 4>>)
  memref.copy %first, %z : memref<4xf32, strided<[1]>> to memref<4xf32>
  func.call @use(%y) : (memref<8xf32>) -> ()
  return
}

// -----

// A loop sees what it wrote in the iteration before, but in the first one.
// CHECK-LABEL: func.func @carried
// CHECK: memref.load %{{.*}} {phl.access = 2 : i64, phl.sees = array<i64: 0, 0, 1, 1, 2, 2, 1, 2, 3, 4>}
func.func @carried() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<5xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<5xf32>)
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %y[%i] : memref<5xf32>
    %next = arith.addi %i, %c1 : index
    memref.store %a, %y[%next] : memref<5xf32>
  }
  return
}

// -----

// On tensors: what computes a value, through views of it and loops.
// CHECK-LABEL: func.func @tensors
// CHECK: linalg.fill {phl.access = 1 : i64}
// CHECK: linalg.exp {phl.access = 2 : i64, phl.sees = array<i64: 0, [[ANY:[0-9]+]], 1, 0, 1, 1, 0, 1>}
// CHECK: linalg.add {phl.access = 3 : i64, phl.sees = array<i64: 0, [[ANY]], 1, 1, 3, 1, 1, 3, 1, [[ANY]], 1, 1, 2, 1, 1, 2>}
func.func @tensors(%x: tensor<4xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %d = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
  %j = tensor.insert_slice %y into %f[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %o = tensor.empty() : tensor<8xf32>
  %z = linalg.add ins(%j, %f : tensor<8xf32>, tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}
