// RUN: phaseline-opt %s | phaseline-opt | FileCheck %s
// RUN: phaseline-opt %s --verify-roundtrip -o /dev/null

// Constants and ops on shapes.

// CHECK-LABEL: func.func @constant
func.func @constant() {
  // CHECK: graph.constant dense<[1, 2]> : tensor<2xi64>
  %0 = graph.constant dense<[1, 2]> : tensor<2xi64>
  // CHECK: graph.constant dense<true> : tensor<i1>
  %1 = graph.constant dense<true> : tensor<i1>
  // CHECK: graph.constant dense<1.000000e+00> : tensor<4xf32> as tensor<?xf32>
  %2 = graph.constant dense<1.000000e+00> : tensor<4xf32> as tensor<?xf32>
  // CHECK: graph.constant dense_resource<weights> : tensor<2xf32>
  %3 = graph.constant dense_resource<weights> : tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @shape
func.func @shape(%x: tensor<2x3x4xf32>, %n: tensor<2xi64>) {
  // CHECK: graph.shape %{{.*}} : (tensor<2x3x4xf32>) -> tensor<3xi64>
  %0 = graph.shape %x : (tensor<2x3x4xf32>) -> tensor<3xi64>
  // CHECK: graph.shape %{{.*}} start = 1 end = -1 : (tensor<2x3x4xf32>) -> tensor<1xi64>
  %1 = graph.shape %x start = 1 end = -1 : (tensor<2x3x4xf32>) -> tensor<1xi64>
  // CHECK: graph.size %{{.*}} : (tensor<2x3x4xf32>) -> tensor<i64>
  %2 = graph.size %x : (tensor<2x3x4xf32>) -> tensor<i64>
  // CHECK: graph.reshape %{{.*}}, %{{.*}} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %3 = graph.reshape %x, %n : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: graph.reshape %{{.*}}, %{{.*}} allowzero = true : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
  %4 = graph.reshape %x, %n allowzero = true : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
  // CHECK: graph.flatten %{{.*}} axis = 2 : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %5 = graph.flatten %x axis = 2 : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  // CHECK: graph.flatten %{{.*}} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %6 = graph.flatten %x : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  // CHECK: graph.transpose %{{.*}} perm = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %7 = graph.transpose %x perm = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  // CHECK: graph.unsqueeze %{{.*}} axes = [0, -1] : (tensor<2x3x4xf32>) -> tensor<1x2x3x4x1xf32>
  %8 = graph.unsqueeze %x axes = [0, -1] : (tensor<2x3x4xf32>) -> tensor<1x2x3x4x1xf32>
  return
}

// CHECK-LABEL: func.func @squeeze
func.func @squeeze(%x: tensor<1x3x1xf32>) {
  // CHECK: graph.squeeze %{{.*}} axes = [0, 2] : (tensor<1x3x1xf32>) -> tensor<3xf32>
  %0 = graph.squeeze %x axes = [0, 2] : (tensor<1x3x1xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: func.func @repeat
func.func @repeat(%x: tensor<2x1xf32>, %n: tensor<2xi64>, %s: tensor<f32>) {
  // CHECK: graph.expand %{{.*}}, %{{.*}} : (tensor<2x1xf32>, tensor<2xi64>) -> tensor<2x?xf32>
  %0 = graph.expand %x, %n : (tensor<2x1xf32>, tensor<2xi64>) -> tensor<2x?xf32>
  // CHECK: graph.tile %{{.*}}, %{{.*}} : (tensor<2x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = graph.tile %x, %n : (tensor<2x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: graph.range %{{.*}}, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  %2 = graph.range %s, %s, %s : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  // CHECK: graph.constant_of_shape %{{.*}} value = dense<0> : tensor<1xi64> : (tensor<2xi64>) -> tensor<?x?xi64>
  %3 = graph.constant_of_shape %n value = dense<0> : tensor<1xi64> : (tensor<2xi64>) -> tensor<?x?xi64>
  // CHECK: graph.eye_like %{{.*}} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %4 = graph.eye_like %x : (tensor<2x1xf32>) -> tensor<2x1xf32>
  // CHECK: graph.eye_like %{{.*}} k = -1 to = i64 : (tensor<2x1xf32>) -> tensor<2x1xi64>
  %5 = graph.eye_like %x k = -1 to = i64 : (tensor<2x1xf32>) -> tensor<2x1xi64>
  return
}

// CHECK-LABEL: func.func @space
func.func @space(%x: tensor<1x8x2x4xf32>) {
  // CHECK: graph.depth_to_space %{{.*}} blocksize = 2 : (tensor<1x8x2x4xf32>) -> tensor<1x2x4x8xf32>
  %0 = graph.depth_to_space %x blocksize = 2 : (tensor<1x8x2x4xf32>) -> tensor<1x2x4x8xf32>
  // CHECK: graph.depth_to_space %{{.*}} blocksize = 2 mode = "CRD" : (tensor<1x8x2x4xf32>) -> tensor<1x2x4x8xf32>
  %1 = graph.depth_to_space %x blocksize = 2 mode = "CRD" : (tensor<1x8x2x4xf32>) -> tensor<1x2x4x8xf32>
  // CHECK: graph.space_to_depth %{{.*}} blocksize = 2 : (tensor<1x8x2x4xf32>) -> tensor<1x32x1x2xf32>
  %2 = graph.space_to_depth %x blocksize = 2 : (tensor<1x8x2x4xf32>) -> tensor<1x32x1x2xf32>
  return
}

// CHECK: weights: "0x040000000000803F00000040"
{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040"
    }
  }
#-}
