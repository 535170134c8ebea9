// RUN: phaseline-opt %s --canonicalize --split-input-file | FileCheck %s

// Folds of constants and ops on shapes.

// CHECK-LABEL: func.func @shape
func.func @shape(%x: tensor<2x3xf32>) -> tensor<2xi64> {
  %0 = graph.shape %x : (tensor<2x3xf32>) -> tensor<2xi64>
  // CHECK: dense<[2, 3]>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @shape_part
func.func @shape_part(%x: tensor<?x3x4xf32>) -> tensor<2xi64> {
  %0 = graph.shape %x start = -2 : (tensor<?x3x4xf32>) -> tensor<2xi64>
  // CHECK: dense<[3, 4]>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @shape_unknown
func.func @shape_unknown(%x: tensor<?x3xf32>) -> tensor<2xi64> {
  %0 = graph.shape %x : (tensor<?x3xf32>) -> tensor<2xi64>
  // CHECK: graph.shape
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @size
func.func @size(%x: tensor<2x3xf32>) -> tensor<i64> {
  %0 = graph.size %x : (tensor<2x3xf32>) -> tensor<i64>
  // CHECK: dense<6> : tensor<i64>
  return %0 : tensor<i64>
}

// CHECK-LABEL: func.func @shape_arithmetic
func.func @shape_arithmetic(%x: tensor<?x3x8xf32>) -> tensor<2xi64> {
  %i = graph.constant dense<[1, 2]> : tensor<2xi64>
  %two = graph.constant dense<2> : tensor<i64>
  %s = graph.shape %x : (tensor<?x3x8xf32>) -> tensor<3xi64>
  %d = graph.gather %s, %i : (tensor<3xi64>, tensor<2xi64>) -> tensor<2xi64>
  %0 = graph.div %d, %two : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<[1, 4]> : tensor<2xi64>
  // CHECK-NEXT: return %[[C]]
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @reshape_same
func.func @reshape_same(%x: tensor<2x3xf32>, %s: tensor<2xi64>) -> tensor<2x3xf32> {
  %0 = graph.reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @reshape_same_unknown
func.func @reshape_same_unknown(%x: tensor<?x3xf32>, %s: tensor<2xi64>) -> tensor<?x3xf32> {
  %0 = graph.reshape %x, %s : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @reshape_two_unknown
func.func @reshape_two_unknown(%x: tensor<?x?xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = graph.reshape %x, %s : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: graph.reshape
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @reshape_reshape
func.func @reshape_reshape(%x: tensor<4x6xf32>, %s: tensor<2xi64>) -> tensor<2x12xf32> {
  %t = graph.constant dense<[2, 12]> : tensor<2xi64>
  %0 = graph.reshape %x, %s : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<3x8xf32>
  %1 = graph.reshape %0, %t : (tensor<3x8xf32>, tensor<2xi64>) -> tensor<2x12xf32>
  // CHECK-NOT: tensor<3x8xf32>
  // CHECK: graph.reshape %arg0, %{{.*}} : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<2x12xf32>
  return %1 : tensor<2x12xf32>
}

// CHECK-LABEL: func.func @reshape_copies
func.func @reshape_copies(%x: tensor<4x6xf32>, %s: tensor<2xi64>) -> tensor<3x8xf32> {
  %t = graph.constant dense<[0, 8]> : tensor<2xi64>
  %0 = graph.reshape %x, %s : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<3x?xf32>
  %1 = graph.reshape %0, %t : (tensor<3x?xf32>, tensor<2xi64>) -> tensor<3x8xf32>
  // CHECK: graph.reshape
  // CHECK: graph.reshape
  return %1 : tensor<3x8xf32>
}

// CHECK-LABEL: func.func @reshape_back
func.func @reshape_back(%x: tensor<4x6xf32>, %s: tensor<1xi64>, %t: tensor<2xi64>) -> tensor<4x6xf32> {
  %0 = graph.reshape %x, %s : (tensor<4x6xf32>, tensor<1xi64>) -> tensor<24xf32>
  %1 = graph.reshape %0, %t : (tensor<24xf32>, tensor<2xi64>) -> tensor<4x6xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %1 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @squeeze_unsqueeze
func.func @squeeze_unsqueeze(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = graph.unsqueeze %x axes = [1] : (tensor<?x?xf32>) -> tensor<?x1x?xf32>
  %1 = graph.squeeze %0 axes = [1] : (tensor<?x1x?xf32>) -> tensor<?x?xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %1 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @squeeze_nothing
func.func @squeeze_nothing(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = graph.squeeze %x axes = [] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @flatten_matrix
func.func @flatten_matrix(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = graph.flatten %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @reshape_constant
func.func @reshape_constant() -> tensor<1x4xf32> {
  %x = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = graph.unsqueeze %x axes = [0] : (tensor<4xf32>) -> tensor<1x4xf32>
  // CHECK: graph.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00{{\]\]}}> : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// CHECK-LABEL: func.func @flatten_constant
func.func @flatten_constant() -> tensor<2x12xi64> {
  %x = graph.constant dense<7> : tensor<2x3x4xi64>
  %0 = graph.flatten %x : (tensor<2x3x4xi64>) -> tensor<2x12xi64>
  // CHECK: graph.constant dense<7> : tensor<2x12xi64>
  return %0 : tensor<2x12xi64>
}

// CHECK-LABEL: func.func @reshape_resource
func.func @reshape_resource() -> tensor<2x1xf32> {
  %x = graph.constant dense_resource<pair> : tensor<2xf32>
  %0 = graph.unsqueeze %x axes = [1] : (tensor<2xf32>) -> tensor<2x1xf32>
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense_resource<pair> : tensor<2x1xf32>
  // CHECK-NEXT: return %[[C]]
  return %0 : tensor<2x1xf32>
}

// CHECK-LABEL: func.func @transpose_identity
func.func @transpose_identity(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = graph.transpose %x perm = [0, 1] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @transpose_back
func.func @transpose_back(%x: tensor<?x3x4xf32>) -> tensor<?x3x4xf32> {
  %0 = graph.transpose %x perm = [2, 0, 1] : (tensor<?x3x4xf32>) -> tensor<4x?x3xf32>
  %1 = graph.transpose %0 perm = [1, 2, 0] : (tensor<4x?x3xf32>) -> tensor<?x3x4xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %1 : tensor<?x3x4xf32>
}

// CHECK-LABEL: func.func @transpose_transpose
func.func @transpose_transpose(%x: tensor<2x3x4xf32>) -> tensor<3x4x2xf32> {
  %0 = graph.transpose %x perm = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = graph.transpose %0 perm = [2, 0, 1] : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32>
  // CHECK-NEXT: graph.transpose %arg0 perm = [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  // CHECK-NEXT: return
  return %1 : tensor<3x4x2xf32>
}

// CHECK-LABEL: func.func @transpose_constant
func.func @transpose_constant() -> tensor<3x2xi64> {
  %x = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %0 = graph.transpose %x perm = [1, 0] : (tensor<2x3xi64>) -> tensor<3x2xi64>
  // CHECK: graph.constant dense<{{\[\[}}1, 4], [2, 5], [3, 6{{\]\]}}> : tensor<3x2xi64>
  return %0 : tensor<3x2xi64>
}

// CHECK-LABEL: func.func @expand_same
func.func @expand_same(%x: tensor<2x3xf32>, %s: tensor<2xi64>) -> tensor<2x3xf32> {
  %0 = graph.expand %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @expand_unknown
func.func @expand_unknown(%x: tensor<?x3xf32>, %s: tensor<2xi64>) -> tensor<?x3xf32> {
  %0 = graph.expand %x, %s : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  // CHECK: graph.expand
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @expand_constant
func.func @expand_constant() -> tensor<2x2xi64> {
  %a = graph.constant dense<[[1], [2]]> : tensor<2x1xi64>
  %b = graph.constant dense<[1, 2]> : tensor<2xi64>
  %0 = graph.expand %a, %b : (tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x2xi64>
  // CHECK: graph.constant dense<{{\[\[}}1, 1], [2, 2{{\]\]}}> : tensor<2x2xi64>
  return %0 : tensor<2x2xi64>
}

// CHECK-LABEL: func.func @expand_splat
func.func @expand_splat() -> tensor<1000x1000xf32> {
  %a = graph.constant dense<3.0> : tensor<f32>
  %b = graph.constant dense<[1000, 1000]> : tensor<2xi64>
  %0 = graph.expand %a, %b : (tensor<f32>, tensor<2xi64>) -> tensor<1000x1000xf32>
  // CHECK: graph.constant dense<3.000000e+00> : tensor<1000x1000xf32>
  return %0 : tensor<1000x1000xf32>
}

// CHECK-LABEL: func.func @tile_once
func.func @tile_once(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %r = graph.constant dense<1> : tensor<2xi64>
  %0 = graph.tile %x, %r : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  // CHECK-NOT: graph.
  // CHECK: return %arg0 :
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @tile_constant
func.func @tile_constant() -> tensor<4xi64> {
  %a = graph.constant dense<[1, 2]> : tensor<2xi64>
  %b = graph.constant dense<2> : tensor<1xi64>
  %0 = graph.tile %a, %b : (tensor<2xi64>, tensor<1xi64>) -> tensor<4xi64>
  // CHECK: graph.constant dense<[1, 2, 1, 2]> : tensor<4xi64>
  return %0 : tensor<4xi64>
}

// CHECK-LABEL: func.func @range
func.func @range() -> tensor<4xi64> {
  %a = graph.constant dense<10> : tensor<i64>
  %b = graph.constant dense<0> : tensor<i64>
  %d = graph.constant dense<-3> : tensor<i64>
  %0 = graph.range %a, %b, %d : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4xi64>
  // CHECK: dense<[10, 7, 4, 1]> : tensor<4xi64>
  return %0 : tensor<4xi64>
}

// CHECK-LABEL: func.func @range_float
func.func @range_float() -> tensor<?xf32> {
  %a = graph.constant dense<0.0> : tensor<f32>
  %b = graph.constant dense<1.0> : tensor<f32>
  %d = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.range %a, %b, %d : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  // CHECK: dense<[0.000000e+00, 5.000000e-01]> : tensor<2xf32> as tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @constant_of_shape
func.func @constant_of_shape() -> tensor<2x300x400xf32> {
  %s = graph.constant dense<[2, 300, 400]> : tensor<3xi64>
  %0 = graph.constant_of_shape %s value = dense<1.5> : tensor<1xf32> : (tensor<3xi64>) -> tensor<2x300x400xf32>
  // CHECK: dense<1.500000e+00> : tensor<2x300x400xf32>
  return %0 : tensor<2x300x400xf32>
}

{-#
  dialect_resources: {
    builtin: {
      pair: "0x040000000000803F00000040"
    }
  }
#-}

// Whole blocks that are packed again are what they were; what fills up blocks that are not full is not known
// to be zeros.
// CHECK-LABEL: func.func @pack_unpack(
// CHECK-NEXT: return %arg0
func.func @pack_unpack(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = graph.unpack %x dims = [0, 1, 0] blocks = [4, 1, 4] inner = [2] shape = [8, 3] : (tensor<2x3x4xf32>) -> tensor<8x3xf32>
  %1 = graph.pack %0 dims = [0, 1, 0] blocks = [4, 1, 4] inner = [2] shape = [2, 3, 4] : (tensor<8x3xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @pack_unpack_part(
// CHECK: graph.unpack
// CHECK: graph.pack
func.func @pack_unpack_part(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = graph.unpack %x dims = [0, 1, 0] blocks = [4, 1, 4] inner = [2] shape = [7, 3] : (tensor<2x3x4xf32>) -> tensor<7x3xf32>
  %1 = graph.pack %0 dims = [0, 1, 0] blocks = [4, 1, 4] inner = [2] shape = [2, 3, 4] : (tensor<7x3xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @unpack_pack(
// CHECK-NEXT: return %arg0
func.func @unpack_pack(%x: tensor<7x3xf32>) -> tensor<7x3xf32> {
  %0 = graph.pack %x dims = [0, 1, 0] blocks = [4, 1, 4] inner = [2] shape = [2, 12] : (tensor<7x3xf32>) -> tensor<2x12xf32>
  %1 = graph.unpack %0 dims = [0, 1, 0] blocks = [4, 1, 4] inner = [2] shape = [7, 3] : (tensor<2x12xf32>) -> tensor<7x3xf32>
  return %1 : tensor<7x3xf32>
}
