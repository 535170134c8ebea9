// RUN: phaseline-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse-host),lower-host-kernels{vector-bits=256})" --split-input-file | FileCheck %s

// Both products write to the whole; an argument is put between them.
// CHECK-LABEL: func.func @both
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x24xf32>
// CHECK: %[[A:.*]] = tir.call_extern @[[KA:k_matmul_[0-9a-f]+]]({{.*}} outs(%[[E]] : tensor<4x24xf32>) {{.*}} {accumulate} -> tensor<4x24xf32>
// CHECK: %[[B:.*]] = tir.call_extern @[[KB:k_matmul_[0-9a-f]+]]({{.*}} outs(%[[A]] : tensor<4x24xf32>)
// CHECK: %[[Y:.*]] = tensor.insert_slice %arg1 into %[[B]][0, 8] [4, 8] [1, 1]
// CHECK-NOT: graph.concat
// CHECK: return %[[Y]]
// Rows of the whole are 24 apart.
// CHECK: func.func private @[[KA]](%{{.*}}: memref<4x16xf32>, %{{.*}}: memref<128xf32>, %[[M:.*]]: memref<4x24xf32>,
// CHECK: %[[F:.*]] = memref.reinterpret_cast %[[M]]
// CHECK-DAG: %[[ROW:.*]] = arith.constant 24 : index
// CHECK: vector.store %{{.*}}, %[[F]]
// CHECK: func.func private @[[KB]](
func.func @both(%x: tensor<4x16xf32>, %z: tensor<4x8xf32>) -> tensor<4x24xf32> {
  %a = graph.constant dense<1.0> : tensor<16x8xf32>
  %b = graph.constant dense<2.0> : tensor<16x8xf32>
  %0 = graph.matmul %x, %a : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %1 = graph.matmul %x, %b : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %2 = graph.concat %0, %z, %1 axis = 1 : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
  return %2 : tensor<4x24xf32>
}

// -----

// A result that something else reads is written twice.
// CHECK-LABEL: func.func @twice
// CHECK: %[[A:.*]]:2 = tir.call_extern @[[K:k_matmul_[0-9a-f]+]]({{.*}} outs(%{{.*}}, %{{.*}} : tensor<4x16xf32>, tensor<4x8xf32>) {{.*}} {accumulate}
// CHECK: graph.exp %[[A]]#1
// CHECK: func.func private @[[K]](%{{.*}}: memref<4x16xf32>, %{{.*}}: memref<128xf32>, %[[W:.*]]: memref<4x16xf32>, %[[Y:.*]]: memref<4x8xf32>,
// CHECK-DAG: %[[FW:.*]] = memref.reinterpret_cast %[[W]]
// CHECK-DAG: %[[FY:.*]] = memref.reinterpret_cast %[[Y]]
// CHECK: vector.store %[[V:.*]], %[[FY]]
// CHECK: vector.store %[[V]], %[[FW]]
func.func @twice(%x: tensor<4x16xf32>, %z: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4x8xf32>) {
  %a = graph.constant dense<1.0> : tensor<16x8xf32>
  %0 = graph.matmul %x, %a : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %1 = graph.concat %0, %z axis = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %2 = graph.transpose %0 perm = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %3 = graph.transpose %2 perm = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %4 = graph.exp %0 : tensor<4x8xf32>
  %5 = graph.add %3, %4 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %5 : tensor<4x16xf32>, tensor<4x8xf32>
}

// -----

// One buffer: the inner concatenation is a slice of the outer one, as only a loop reads it besides.
// CHECK-LABEL: func.func @nested
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x24xf32>
// CHECK: %[[A:.*]] = tir.call_extern {{.*}} outs(%[[E]] : tensor<4x24xf32>)
// CHECK: %[[X:.*]] = tensor.insert_slice %arg0 into %[[A]][0, 0] [4, 8] [1, 1]
// CHECK: %[[S:.*]] = tensor.extract_slice %[[X]][0, 0] [4, 16] [1, 1]
// CHECK: graph.relu %[[S]]
// CHECK: %[[B:.*]] = tir.call_extern {{.*}} outs(%[[X]] : tensor<4x24xf32>)
// CHECK: return %[[B]]
func.func @nested(%x: tensor<4x8xf32>) -> tensor<4x24xf32> {
  %a = graph.constant dense<1.0> : tensor<8x8xf32>
  %b = graph.constant dense<2.0> : tensor<16x8xf32>
  %0 = graph.matmul %x, %a : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = graph.concat %x, %0 axis = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %2 = graph.relu %1 : tensor<4x16xf32>
  %3 = graph.matmul %2, %b : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %4 = graph.concat %1, %3 axis = 1 : (tensor<4x16xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
  return %4 : tensor<4x24xf32>
}

// -----

// A kernel reads the inner one, which is a buffer of its own then, and is copied.
// CHECK-LABEL: func.func @read_by_kernel
// CHECK: bufferization.alloc_tensor() : tensor<4x16xf32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [4, 16] [1, 1]
func.func @read_by_kernel(%x: tensor<4x8xf32>) -> tensor<4x24xf32> {
  %a = graph.constant dense<1.0> : tensor<8x8xf32>
  %b = graph.constant dense<2.0> : tensor<16x8xf32>
  %0 = graph.matmul %x, %a : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = graph.concat %x, %0 axis = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %2 = graph.matmul %1, %b : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %3 = graph.concat %1, %2 axis = 1 : (tensor<4x16xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
  return %3 : tensor<4x24xf32>
}

// -----

// No kernel, nothing to do.
// CHECK-LABEL: func.func @loops
// CHECK: graph.concat
func.func @loops(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %0 = graph.relu %x : tensor<4x8xf32>
  %1 = graph.concat %0, %x axis = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}
