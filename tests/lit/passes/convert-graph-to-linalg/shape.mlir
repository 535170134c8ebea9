// RUN: phaseline-opt %s --convert-graph-to-linalg --canonicalize | FileCheck %s

// Ops on shapes, and ops that rearrange or repeat elements.

// CHECK: #[[$SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>

// A view: no elements move.
// CHECK-LABEL: func.func @reshape
func.func @reshape(%x: tensor<2x3x4xf32>) -> tensor<6x2x2xf32> {
  // CHECK: %[[C:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
  // CHECK: tensor.expand_shape %[[C]] {{\[\[}}0], [1, 2]] output_shape [6, 2, 2]
  %s = graph.constant dense<[6, 2, 2]> : tensor<3xi64>
  %0 = graph.reshape %x, %s : (tensor<2x3x4xf32>, tensor<3xi64>) -> tensor<6x2x2xf32>
  return %0 : tensor<6x2x2xf32>
}

// Shapes that share no groups of dimensions meet in a flat one.
// CHECK-LABEL: func.func @reshape_through_flat
func.func @reshape_through_flat(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // CHECK: tensor.collapse_shape {{.*}} : tensor<2x3xf32> into tensor<6xf32>
  // CHECK: tensor.expand_shape {{.*}} : tensor<6xf32> into tensor<3x2xf32>
  %s = graph.constant dense<[3, 2]> : tensor<2xi64>
  %0 = graph.reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @squeeze_to_scalar
func.func @squeeze_to_scalar(%x: tensor<1x1xi64>) -> tensor<i64> {
  // CHECK: tensor.collapse_shape {{.*}} [] : tensor<1x1xi64> into tensor<i64>
  %0 = graph.squeeze %x axes = [0, 1] : (tensor<1x1xi64>) -> tensor<i64>
  return %0 : tensor<i64>
}

// CHECK-LABEL: func.func @transpose
func.func @transpose(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[$SWAP]],
  %0 = graph.transpose %x perm = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// Moving a dimension of size 1 is a reshape.
// CHECK-LABEL: func.func @transpose_unit
func.func @transpose_unit(%x: tensor<1x3x4xf32>) -> tensor<3x1x4xf32> {
  // CHECK-NOT: linalg.generic
  // CHECK: tensor.expand_shape
  %0 = graph.transpose %x perm = [1, 0, 2] : (tensor<1x3x4xf32>) -> tensor<3x1x4xf32>
  return %0 : tensor<3x1x4xf32>
}

// CHECK-LABEL: func.func @shape_and_size
func.func @shape_and_size(%x: tensor<2x3x4xf32>) -> (tensor<2xi64>, tensor<i64>) {
  // CHECK-DAG: arith.constant dense<[3, 4]> : tensor<2xi64>
  // CHECK-DAG: arith.constant dense<24> : tensor<i64>
  %0 = graph.shape %x start = 1 : (tensor<2x3x4xf32>) -> tensor<2xi64>
  %1 = graph.size %x : (tensor<2x3x4xf32>) -> tensor<i64>
  return %0, %1 : tensor<2xi64>, tensor<i64>
}

// Copies and the elements of one are two loops: no division.
// CHECK-LABEL: func.func @tile
func.func @tile(%x: tensor<2x3xui8>) -> tensor<4x3xui8> {
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
  // CHECK: tensor.collapse_shape {{.*}} : tensor<2x2x3xi8> into tensor<4x3xi8>
  %r = graph.constant dense<[2, 1]> : tensor<2xi64>
  %0 = graph.tile %x, %r : (tensor<2x3xui8>, tensor<2xi64>) -> tensor<4x3xui8>
  return %0 : tensor<4x3xui8>
}

// CHECK-LABEL: func.func @expand_empty
func.func @expand_empty(%x: tensor<1x3xf32>) -> tensor<0x3xf32> {
  // CHECK: tensor.empty() : tensor<0x3xf32>
  %s = graph.constant dense<[0, 3]> : tensor<2xi64>
  %0 = graph.expand %x, %s : (tensor<1x3xf32>, tensor<2xi64>) -> tensor<0x3xf32>
  return %0 : tensor<0x3xf32>
}

// start and delta may be known at run time only.
// CHECK-LABEL: func.func @range
func.func @range(%start: tensor<i64>, %limit: tensor<i64>, %delta: tensor<i64>) -> tensor<5xi64> {
  // CHECK-DAG: tensor.extract %arg0[] : tensor<i64>
  // CHECK-DAG: tensor.extract %arg2[] : tensor<i64>
  // CHECK: linalg.index 0
  %0 = graph.range %start, %limit, %delta : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<5xi64>
  return %0 : tensor<5xi64>
}

// CHECK-LABEL: func.func @constant_of_shape
func.func @constant_of_shape() -> (tensor<2x3xf32>, tensor<64x64xui8>) {
  // CHECK-DAG: arith.constant dense<1.500000e+00> : tensor<2x3xf32>
  // CHECK-DAG: linalg.fill ins(%{{.*}} : i8) outs(%{{.*}} : tensor<64x64xi8>)
  %s = graph.constant dense<[2, 3]> : tensor<2xi64>
  %0 = graph.constant_of_shape %s value = dense<1.5> : tensor<1xf32> : (tensor<2xi64>) -> tensor<2x3xf32>
  %t = graph.constant dense<[64, 64]> : tensor<2xi64>
  %1 = graph.constant_of_shape %t value = dense<7> : tensor<1xui8> : (tensor<2xi64>) -> tensor<64x64xui8>
  return %0, %1 : tensor<2x3xf32>, tensor<64x64xui8>
}

// CHECK-LABEL: func.func @trilu
func.func @trilu(%x: tensor<2x4x4xf32>, %k: tensor<i64>) -> tensor<2x4x4xf32> {
  // CHECK: %[[K:.*]] = tensor.extract %arg1[] : tensor<i64>
  // CHECK: arith.cmpi sle, %{{.*}}, %[[K]]
  // CHECK: arith.select
  %0 = graph.trilu %x, %k upper = false : (tensor<2x4x4xf32>, tensor<i64>) -> tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}

// CHECK-LABEL: func.func @depth_to_space
func.func @depth_to_space(%x: tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32> {
  // CHECK: tensor.expand_shape {{.*}} output_shape [1, 2, 2, 2, 2, 3]
  // CHECK: linalg.generic
  // CHECK: tensor.collapse_shape {{.*}} into tensor<1x2x4x6xf32>
  %0 = graph.depth_to_space %x blocksize = 2 : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
  return %0 : tensor<1x2x4x6xf32>
}
