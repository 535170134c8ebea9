// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(graph-fuse-host),lower-host-kernels{vector-bits=256})' | FileCheck %s

// A row in registers is read once, its last vector with a mask, and what follows is done before it is stored.
// CHECK-LABEL: func.func @short
// CHECK: tir.call_extern @[[SHORT:k_softmax_[0-9a-f]+]]
// CHECK-SAME: outs(%{{.*}} : tensor<12x37xi8>)
func.func @short(%x: tensor<12x37xf32>) -> tensor<12x37xi8> {
  %s = graph.constant dense<0.125> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %0 = graph.softmax %x : tensor<12x37xf32>
  %1 = graph.quantize_linear %0, %s, %z : (tensor<12x37xf32>, tensor<f32>, tensor<i8>) -> tensor<12x37xi8>
  return %1 : tensor<12x37xi8>
}

// A longer one is read in loops.
// CHECK-LABEL: func.func @long
// CHECK: tir.call_extern @[[LONG:k_softmax_[0-9a-f]+]]
func.func @long(%x: tensor<2x3x1000xf32>) -> tensor<2x3x1000xf32> {
  %0 = graph.log_softmax %x axis = 2 : tensor<2x3x1000xf32>
  return %0 : tensor<2x3x1000xf32>
}

// Columns are vectors, the last one with a mask.
// CHECK-LABEL: func.func @columns
// CHECK: tir.call_extern @[[COLUMNS:k_softmax_[0-9a-f]+]]
func.func @columns(%x: tensor<2x30x21xf32>) -> tensor<2x30x21xf32> {
  %0 = graph.softmax %x axis = 1 : tensor<2x30x21xf32>
  return %0 : tensor<2x30x21xf32>
}

// Rows and columns that fill no vector, and other axes, are loops.
// CHECK-LABEL: func.func @others
// CHECK-NOT: tir.call_extern
// CHECK: return
func.func @others(%x: tensor<100x10x4xf32>) -> tensor<100x10x4xf32> {
  %0 = graph.softmax %x : tensor<100x10x4xf32>
  %1 = graph.softmax %0 axis = 0 : tensor<100x10x4xf32>
  %2 = graph.softmax %1 axis = 1 : tensor<100x10x4xf32>
  return %2 : tensor<100x10x4xf32>
}

// CHECK: func.func private @[[SHORT]]
// CHECK: vector.maskedload
// CHECK-NOT: scf.while
// CHECK: vector.maskedstore %{{.*}} vector<8xi8>
// CHECK: func.func private @[[LONG]]
// CHECK-COUNT-3: scf.for %{{.*}} step %c32
// CHECK: func.func private @[[COLUMNS]]
// CHECK: vector.store %{{.*}} vector<8xf32>
// CHECK: vector.maskedstore %{{.*}} vector<8xf32>
