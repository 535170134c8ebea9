// RUN: phaseline-opt %s --convert-graph-to-linalg --canonicalize | FileCheck %s

// Ops that join, cut and pad.

// CHECK-DAG: #[[$BACK:.*]] = affine_map<(d0, d1) -> (-d0 + 3, d1)>

// CHECK-LABEL: func.func @concat
func.func @concat(%a: tensor<2x3xf32>, %b: tensor<2x1xf32>) -> tensor<2x4xf32> {
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<2x4xf32>
  // CHECK: %[[I:.*]] = tensor.insert_slice %arg0 into %[[E]][0, 0] [2, 3] [1, 1]
  // CHECK: tensor.insert_slice %arg1 into %[[I]][0, 3] [2, 1] [1, 1]
  %0 = graph.concat %a, %b axis = -1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @split
func.func @split(%x: tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x0xf32>, tensor<4x3xf32>) {
  // CHECK-DAG: tensor.extract_slice %arg0[0, 0] [4, 2] [1, 1]
  // CHECK-DAG: tensor.empty() : tensor<4x0xf32>
  // CHECK-DAG: tensor.extract_slice %arg0[0, 2] [4, 3] [1, 1]
  %0:3 = graph.split %x axis = 1 split = [2, 0, 3] : (tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x0xf32>, tensor<4x3xf32>)
  return %0#0, %0#1, %0#2 : tensor<4x2xf32>, tensor<4x0xf32>, tensor<4x3xf32>
}

// CHECK-LABEL: func.func @slice
func.func @slice(%x: tensor<8x9xf32>) -> tensor<3x4xf32> {
  // CHECK: tensor.extract_slice %arg0[1, 5] [3, 4] [2, 1]
  // CHECK-NOT: linalg
  %starts = graph.constant dense<[1, -4]> : tensor<2xi64>
  %ends = graph.constant dense<[7, 1000]> : tensor<2xi64>
  %axes = graph.constant dense<[0, 1]> : tensor<2xi64>
  %steps = graph.constant dense<[2, 1]> : tensor<2xi64>
  %0 = graph.slice %x, %starts, %ends axes %axes steps %steps : (tensor<8x9xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @slice_backwards
func.func @slice_backwards(%x: tensor<7x3xf32>) -> tensor<4x3xf32> {
  // CHECK: %[[R:.*]] = tensor.extract_slice %arg0[0, 0] [4, 3] [2, 1]
  // CHECK: linalg.generic {indexing_maps = [#[[$BACK]]{{.*}} ins(%[[R]]
  %starts = graph.constant dense<-1> : tensor<1xi64>
  %ends = graph.constant dense<-100> : tensor<1xi64>
  %axes = graph.constant dense<0> : tensor<1xi64>
  %steps = graph.constant dense<-2> : tensor<1xi64>
  %0 = graph.slice %x, %starts, %ends axes %axes steps %steps : (tensor<7x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// One dimension backwards, and one that is cut.
// CHECK-LABEL: func.func @slice_mixed
func.func @slice_mixed(%x: tensor<7x3xf32>) -> tensor<4x2xf32> {
  // CHECK: %[[R:.*]] = tensor.extract_slice %arg0[0, 0] [4, 2] [2, 1]
  // CHECK: linalg.generic {indexing_maps = [#[[$BACK]]{{.*}} ins(%[[R]]
  %starts = graph.constant dense<[-1, 0]> : tensor<2xi64>
  %ends = graph.constant dense<[-100, 2]> : tensor<2xi64>
  %axes = graph.constant dense<[0, 1]> : tensor<2xi64>
  %steps = graph.constant dense<[-2, 1]> : tensor<2xi64>
  %0 = graph.slice %x, %starts, %ends axes %axes steps %steps : (tensor<7x3xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @pad
func.func @pad(%x: tensor<2x3xf32>, %v: tensor<f32>) -> tensor<3x4xf32> {
  // CHECK: %[[S:.*]] = tensor.extract_slice %arg0[0, 1] [2, 2] [1, 1]
  // CHECK: %[[V:.*]] = tensor.extract %arg1[]
  // CHECK: tensor.pad %[[S]] low[1, 0] high[0, 2]
  // CHECK: tensor.yield %[[V]]
  %p = graph.constant dense<[1, -1, 0, 2]> : tensor<4xi64>
  %0 = graph.pad %x, %p value %v : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// x is in the middle; mirrored parts of that are read backwards.
// CHECK-LABEL: func.func @pad_reflect
func.func @pad_reflect(%x: tensor<5xf32>) -> tensor<9xf32> {
  // CHECK: %[[X:.*]] = tensor.insert_slice %arg0 into %{{.*}}[2] [5] [1]
  // CHECK: tensor.extract_slice %[[X]][3] [2] [1]
  // CHECK: %[[L:.*]] = linalg.generic
  // CHECK: %[[P:.*]] = bufferization.alloc_tensor() copy(%[[L]])
  // CHECK: %[[Y:.*]] = tensor.insert_slice %[[P]] into %[[X]][0] [2] [1]
  // CHECK: tensor.extract_slice %[[Y]][4] [2] [1]
  // CHECK: linalg.generic
  // CHECK: tensor.insert_slice %{{.*}} into %[[Y]][7] [2] [1]
  %p = graph.constant dense<2> : tensor<2xi64>
  %0 = graph.pad %x, %p mode = "reflect" : (tensor<5xf32>, tensor<2xi64>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// Many turns: elements are looked up.
// CHECK-LABEL: func.func @pad_wrap
func.func @pad_wrap(%x: tensor<2xf32>) -> tensor<32xf32> {
  // CHECK: arith.constant dense<[0, 1, 0, 1, 0, 1, 0, 1, 0, 1]> : tensor<10xi64>
  // CHECK: %[[X:.*]] = tensor.insert_slice %arg0 into %{{.*}}[10] [2] [1]
  // CHECK: %[[L:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<10xi64>)
  // CHECK: tensor.extract %arg0
  // CHECK: %[[P:.*]] = bufferization.alloc_tensor() copy(%[[L]])
  // CHECK: tensor.insert_slice %[[P]] into %[[X]][0] [10] [1]
  %p = graph.constant dense<[10, 20]> : tensor<2xi64>
  %0 = graph.pad %x, %p mode = "wrap" : (tensor<2xf32>, tensor<2xi64>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}

// Lengths out of range are led into it.
// CHECK-LABEL: func.func @reverse_sequence
func.func @reverse_sequence(%x: tensor<4x3xf32>, %lens: tensor<3xi64>) -> tensor<4x3xf32> {
  // CHECK: arith.maxsi
  // CHECK: arith.minsi
  // CHECK: tensor.extract %arg0
  %0 = graph.reverse_sequence %x, %lens : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// Patches are added to an image with its padding around it; the loops over patches are innermost.
// CHECK-LABEL: func.func @col2im
func.func @col2im(%x: tensor<1x18x20xf32>) -> tensor<1x2x7x9xf32> {
  // CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} -> tensor<1x2x9x11xf32>
  // CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]
  // CHECK-SAME: ins(%{{.*}} : tensor<1x2x3x3x4x5xf32>) outs(%[[ZERO]] : tensor<1x2x9x11xf32>)
  // CHECK: tensor.extract_slice %[[SUM]][0, 0, 1, 1] [1, 2, 7, 9] [1, 1, 1, 1]
  %0 = graph.col2im %x image_shape = [7, 9] kernel_shape = [3, 3] strides = [2, 2] pads = [1, 1, 1, 1] : (tensor<1x18x20xf32>) -> tensor<1x2x7x9xf32>
  return %0 : tensor<1x2x7x9xf32>
}

// The position of a part is read once for all of it.
// CHECK-LABEL: func.func @scatter_nd
func.func @scatter_nd(%x: tensor<5x6xf32>, %i: tensor<3x1xi64>, %u: tensor<3x6xf32>) -> tensor<5x6xf32> {
  // CHECK: scf.for
  // CHECK: tensor.extract %arg1
  // CHECK: scf.for
  // CHECK-NOT: tensor.extract %arg1
  // CHECK: tensor.insert
  %0 = graph.scatter_nd %x, %i, %u : (tensor<5x6xf32>, tensor<3x1xi64>, tensor<3x6xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}
