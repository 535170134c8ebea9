// RUN: phaseline-opt %s --convert-graph-to-linalg --canonicalize | FileCheck %s

// Ops that read and write at positions held in tensors.

// Negative positions count from the end; those out of range are led into the axis.
// CHECK-LABEL: func.func @gather
func.func @gather(%x: tensor<7x4xf32>, %i: tensor<2x3xi64>) -> tensor<2x3x4xf32> {
  // CHECK-DAG: %[[SIZE:.*]] = arith.constant 7 : i64
  // CHECK-DAG: %[[LAST:.*]] = arith.constant 6 : i64
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
  // CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<2x3xi64>)
  // CHECK: ^bb0(%[[RAW:.*]]: i64, %{{.*}}: f32):
  // CHECK: %[[END:.*]] = arith.addi %[[RAW]], %[[SIZE]]
  // CHECK: %[[NEG:.*]] = arith.cmpi slt, %[[RAW]], %[[ZERO]]
  // CHECK: %[[AT:.*]] = arith.select %[[NEG]], %[[END]], %[[RAW]]
  // CHECK: %[[LOW:.*]] = arith.maxsi %[[AT]], %[[ZERO]]
  // CHECK: %[[IN:.*]] = arith.minsi %[[LOW]], %[[LAST]]
  // CHECK: %[[POS:.*]] = arith.index_cast %[[IN]]
  // CHECK: %[[J:.*]] = linalg.index 2
  // CHECK: tensor.extract %arg0[%[[POS]], %[[J]]]
  %0 = graph.gather %x, %i : (tensor<7x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// One known position is a slice.
// CHECK-LABEL: func.func @gather_one
func.func @gather_one(%x: tensor<7x4xf32>) -> tensor<4xf32> {
  // CHECK: tensor.extract_slice %arg0[6, 0] [1, 4] [1, 1]
  // CHECK-NOT: linalg
  %i = graph.constant dense<-1> : tensor<i64>
  %0 = graph.gather %x, %i : (tensor<7x4xf32>, tensor<i64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @gather_nd
func.func @gather_nd(%x: tensor<2x3x4xf32>, %i: tensor<2x5x1xi64>) -> tensor<2x5x4xf32> {
  // CHECK: tensor.extract %arg0
  %0 = graph.gather_nd %x, %i batch_dims = 1 : (tensor<2x3x4xf32>, tensor<2x5x1xi64>) -> tensor<2x5x4xf32>
  return %0 : tensor<2x5x4xf32>
}

// Later updates see earlier ones: sequential loops.
// CHECK-LABEL: func.func @scatter_elements
func.func @scatter_elements(%x: tensor<3x4xui8>, %i: tensor<2x4xi32>, %u: tensor<2x4xui8>) -> tensor<3x4xui8> {
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %arg0) -> (tensor<3x4xi8>)
  // CHECK: scf.for
  // CHECK: arith.extsi {{.*}} : i32 to i64
  // CHECK: arith.maxui
  // CHECK: tensor.insert
  %0 = graph.scatter_elements %x, %i, %u reduction = "max" : (tensor<3x4xui8>, tensor<2x4xi32>, tensor<2x4xui8>) -> tensor<3x4xui8>
  return %0 : tensor<3x4xui8>
}

// CHECK-LABEL: func.func @scatter_nd
func.func @scatter_nd(%x: tensor<4x5xf32>, %i: tensor<3x1xi64>, %u: tensor<3x5xf32>) -> tensor<4x5xf32> {
  // CHECK-COUNT-2: scf.for
  // CHECK-NOT: arith.addf
  // CHECK: tensor.insert
  %0 = graph.scatter_nd %x, %i, %u : (tensor<4x5xf32>, tensor<3x1xi64>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// CHECK-LABEL: func.func @one_hot
func.func @one_hot(%i: tensor<3xi64>, %v: tensor<2xf32>) -> tensor<3x4xf32> {
  // CHECK: linalg.generic
  // CHECK: arith.cmpi eq
  // CHECK: arith.select
  %d = graph.constant dense<4> : tensor<i64>
  %0 = graph.one_hot %i, %d, %v : (tensor<3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @top_k
func.func @top_k(%x: tensor<3x100xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>) {
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: scf.while
  // CHECK: arith.cmpf ogt
  // CHECK: scf.condition
  // CHECK: } {alone}
  // CHECK: scf.for
  // CHECK: arith.ori %{{.*}} : i32
  // CHECK: scf.if
  // CHECK: } {independent}
  %k = graph.constant dense<2> : tensor<1xi64>
  %0:2 = graph.top_k %x, %k : (tensor<3x100xf32>, tensor<1xi64>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x2xi64>
}

// CHECK-LABEL: func.func @non_zero
func.func @non_zero() -> tensor<2x2xi64> {
  // CHECK: arith.constant dense<{{\[\[}}0, 1], [1, 0]]> : tensor<2x2xi64>
  %x = graph.constant dense<[[0.0, 2.0], [1.0, 0.0]]> : tensor<2x2xf32>
  %0 = graph.non_zero %x : (tensor<2x2xf32>) -> tensor<2x2xi64>
  return %0 : tensor<2x2xi64>
}
