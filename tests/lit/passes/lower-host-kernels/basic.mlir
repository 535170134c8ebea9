// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse-host),lower-host-kernels{vector-bits=512})" --split-input-file | FileCheck %s

// The product, bias and activation are one call; packed weights take the place of the matrix. The
// second product has the same sizes, so it shares the kernel.
// CHECK-LABEL: func.func @dense
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<20xf32>)
// CHECK-DAG: %[[W:.*]] = graph.constant dense_resource<{{[a-z_0-9]*}}.kernel_weights_1> : tensor<160xf32>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x20xf32>
// CHECK: %[[LO:.*]] = arith.constant 0 : index
// CHECK: tir.call_extern @[[K:k_matmul_[0-9a-f]*]](%[[LO]], %{{.*}} : index, index) ins(%[[X]], %[[W]], %[[B]] : {{.*}}) outs(%[[E]] : tensor<4x20xf32>)
// CHECK-SAME: args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<ins 2>, #tir.arg<outs 0>, #tir.arg<scalars 0>, #tir.arg<scalars 1>]
// CHECK: tir.call_extern @[[K]]
// CHECK: func.func private @[[K]](%{{.*}}: memref<4x8xf32>, %[[WA:.*]]: memref<160xf32>, %[[BA:.*]]: memref<20xf32>, %{{.*}}: memref<4x20xf32>, %{{.*}}: index, %{{.*}}: index)
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load %[[WA]]
// CHECK: vector.fma
// CHECK: vector.load %[[BA]]
// CHECK: arith.addf
// CHECK: arith.select
// CHECK: vector.store
// CHECK-NOT: func.func
func.func @dense(%x: tensor<4x8xf32>, %b: tensor<20xf32>) -> (tensor<4x20xf32>, tensor<4x20xf32>) {
  %w = graph.constant dense<0.5> : tensor<8x20xf32>
  %v = graph.constant dense<0.25> : tensor<8x20xf32>
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x20xf32>) -> tensor<4x20xf32>
  %1 = graph.add %0, %b : (tensor<4x20xf32>, tensor<20xf32>) -> tensor<4x20xf32>
  %2 = graph.relu %1 : tensor<4x20xf32>
  %3 = graph.matmul %x, %v : (tensor<4x8xf32>, tensor<8x20xf32>) -> tensor<4x20xf32>
  %4 = graph.add %3, %b : (tensor<4x20xf32>, tensor<20xf32>) -> tensor<4x20xf32>
  %5 = graph.relu %4 : tensor<4x20xf32>
  return %2, %5 : tensor<4x20xf32>, tensor<4x20xf32>
}

// -----

// A variable matrix is read where it is. Constants of one value are part of the kernel.
// CHECK-LABEL: func.func @batched
// CHECK-SAME: (%[[A:.*]]: tensor<2x3x4x8xf32>, %[[B:.*]]: tensor<2x3x8x5xf32>)
// CHECK: tir.call_extern @{{k_matmul.*}}ins(%[[A]], %[[B]] :
// CHECK: func.func private
// CHECK: arith.constant dense<1.250000e-01> : vector<8xf32>
func.func @batched(%a: tensor<2x3x4x8xf32>, %b: tensor<2x3x8x5xf32>) -> tensor<2x3x4x5xf32> {
  %s = graph.constant dense<0.125> : tensor<f32>
  %0 = graph.matmul %a, %b : (tensor<2x3x4x8xf32>, tensor<2x3x8x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = graph.mul %0, %s : (tensor<2x3x4x5xf32>, tensor<f32>) -> tensor<2x3x4x5xf32>
  return %1 : tensor<2x3x4x5xf32>
}

// -----

// Matrices that several others share are read again.
// CHECK-LABEL: func.func @partial_broadcast
// CHECK: tir.call_extern @k_matmul
func.func @partial_broadcast(%a: tensor<2x3x4x8xf32>, %b: tensor<3x8x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = graph.matmul %a, %b : (tensor<2x3x4x8xf32>, tensor<3x8x5xf32>) -> tensor<2x3x4x5xf32>
  return %0 : tensor<2x3x4x5xf32>
}
