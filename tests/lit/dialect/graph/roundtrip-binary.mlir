// RUN: phaseline-opt %s | phaseline-opt | FileCheck %s
// RUN: phaseline-opt %s --verify-roundtrip -o /dev/null

// Ops with two operands that broadcast.

// CHECK-LABEL: func.func @arithmetic
func.func @arithmetic(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // CHECK: graph.add %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %0 = graph.add %a, %b : tensor<2x3xf32>
  // CHECK: graph.sub %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %1 = graph.sub %a, %b : tensor<2x3xf32>
  // CHECK: graph.mul %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %2 = graph.mul %a, %b : tensor<2x3xf32>
  // CHECK: graph.div %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %3 = graph.div %a, %b : tensor<2x3xf32>
  // CHECK: graph.min %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %4 = graph.min %a, %b : tensor<2x3xf32>
  // CHECK: graph.max %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %5 = graph.max %a, %b : tensor<2x3xf32>
  // CHECK: graph.prelu %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %6 = graph.prelu %a, %b : tensor<2x3xf32>
  // CHECK: graph.mod %{{.*}}, %{{.*}} fmod = true : tensor<2x3xf32>
  %7 = graph.mod %a, %b fmod = true : tensor<2x3xf32>
  // CHECK: graph.pow %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %8 = graph.pow %a, %b : tensor<2x3xf32>
  // CHECK: graph.atan2 %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %9 = graph.atan2 %a, %b : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %c: tensor<?x1xf32>, %i: tensor<3xi64>) {
  // CHECK: graph.add %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %0 = graph.add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.prelu %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = graph.prelu %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.mul %{{.*}}, %{{.*}} : (tensor<?x1xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %2 = graph.mul %c, %b : (tensor<?x1xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  // CHECK: graph.pow %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  %3 = graph.pow %a, %i : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @integers
func.func @integers(%a: tensor<4xi64>, %b: tensor<4xi64>) {
  // CHECK: graph.div %{{.*}}, %{{.*}} : tensor<4xi64>
  %0 = graph.div %a, %b : tensor<4xi64>
  // CHECK: graph.mod %{{.*}}, %{{.*}} : tensor<4xi64>
  %1 = graph.mod %a, %b : tensor<4xi64>
  return
}

// CHECK-LABEL: func.func @compare
func.func @compare(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %c: tensor<3xf32>) {
  // CHECK: graph.equal %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %0 = graph.equal %a, %b : tensor<2x3xf32>
  // CHECK: graph.greater %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %1 = graph.greater %a, %b : tensor<2x3xf32>
  // CHECK: graph.greater_or_equal %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %2 = graph.greater_or_equal %a, %b : tensor<2x3xf32>
  // CHECK: graph.less %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %3 = graph.less %a, %b : tensor<2x3xf32>
  // CHECK: graph.less_or_equal %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %4 = graph.less_or_equal %a, %b : tensor<2x3xf32>
  // CHECK: graph.less %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %5 = graph.less %a, %c : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  return
}

// CHECK-LABEL: func.func @logic
func.func @logic(%a: tensor<4xi1>, %b: tensor<4xi1>) {
  // CHECK: graph.and %{{.*}}, %{{.*}} : tensor<4xi1>
  %0 = graph.and %a, %b : tensor<4xi1>
  // CHECK: graph.or %{{.*}}, %{{.*}} : tensor<4xi1>
  %1 = graph.or %a, %b : tensor<4xi1>
  // CHECK: graph.xor %{{.*}}, %{{.*}} : tensor<4xi1>
  %2 = graph.xor %a, %b : tensor<4xi1>
  // CHECK: graph.equal %{{.*}}, %{{.*}} : tensor<4xi1>
  %3 = graph.equal %a, %b : tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @bits
func.func @bits(%a: tensor<4xui8>, %b: tensor<4xui8>) {
  // CHECK: graph.bitwise_and %{{.*}}, %{{.*}} : tensor<4xui8>
  %0 = graph.bitwise_and %a, %b : tensor<4xui8>
  // CHECK: graph.bitwise_or %{{.*}}, %{{.*}} : tensor<4xui8>
  %1 = graph.bitwise_or %a, %b : tensor<4xui8>
  // CHECK: graph.bitwise_xor %{{.*}}, %{{.*}} : tensor<4xui8>
  %2 = graph.bitwise_xor %a, %b : tensor<4xui8>
  // CHECK: graph.bit_shift %{{.*}}, %{{.*}} direction = "LEFT" : tensor<4xui8>
  %3 = graph.bit_shift %a, %b direction = "LEFT" : tensor<4xui8>
  // CHECK: graph.bit_shift %{{.*}}, %{{.*}} direction = "RIGHT" : tensor<4xui8>
  %4 = graph.bit_shift %a, %b direction = "RIGHT" : tensor<4xui8>
  return
}

// CHECK-LABEL: func.func @where
func.func @where(%c: tensor<3xi1>, %a: tensor<2x3xf32>, %b: tensor<f32>) {
  // CHECK: graph.where %{{.*}}, %{{.*}}, %{{.*}} : (tensor<3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %0 = graph.where %c, %a, %b : (tensor<3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}
