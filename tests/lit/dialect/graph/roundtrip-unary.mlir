// RUN: phaseline-opt %s | phaseline-opt | FileCheck %s
// RUN: phaseline-opt %s --verify-roundtrip -o /dev/null

// Ops with one operand. Attributes that are equal to their default are not printed.

// CHECK-LABEL: func.func @plain
func.func @plain(%x: tensor<2x3xf32>) {
  // CHECK: graph.abs %{{.*}} : tensor<2x3xf32>
  %0 = graph.abs %x : tensor<2x3xf32>
  // CHECK: graph.neg %{{.*}} : tensor<2x3xf32>
  %1 = graph.neg %x : tensor<2x3xf32>
  // CHECK: graph.sign %{{.*}} : tensor<2x3xf32>
  %2 = graph.sign %x : tensor<2x3xf32>
  // CHECK: graph.reciprocal %{{.*}} : tensor<2x3xf32>
  %3 = graph.reciprocal %x : tensor<2x3xf32>
  // CHECK: graph.sqrt %{{.*}} : tensor<2x3xf32>
  %4 = graph.sqrt %x : tensor<2x3xf32>
  // CHECK: graph.floor %{{.*}} : tensor<2x3xf32>
  %5 = graph.floor %x : tensor<2x3xf32>
  // CHECK: graph.ceil %{{.*}} : tensor<2x3xf32>
  %6 = graph.ceil %x : tensor<2x3xf32>
  // CHECK: graph.round %{{.*}} : tensor<2x3xf32>
  %7 = graph.round %x : tensor<2x3xf32>
  // CHECK: graph.identity %{{.*}} : tensor<2x3xf32>
  %8 = graph.identity %x : tensor<2x3xf32>
  // CHECK: graph.exp %{{.*}} : tensor<2x3xf32>
  %9 = graph.exp %x : tensor<2x3xf32>
  // CHECK: graph.log %{{.*}} : tensor<2x3xf32>
  %10 = graph.log %x : tensor<2x3xf32>
  // CHECK: graph.erf %{{.*}} : tensor<2x3xf32>
  %11 = graph.erf %x : tensor<2x3xf32>
  // CHECK: graph.sin %{{.*}} : tensor<2x3xf32>
  %12 = graph.sin %x : tensor<2x3xf32>
  // CHECK: graph.cos %{{.*}} : tensor<2x3xf32>
  %13 = graph.cos %x : tensor<2x3xf32>
  // CHECK: graph.tan %{{.*}} : tensor<2x3xf32>
  %14 = graph.tan %x : tensor<2x3xf32>
  // CHECK: graph.asin %{{.*}} : tensor<2x3xf32>
  %15 = graph.asin %x : tensor<2x3xf32>
  // CHECK: graph.acos %{{.*}} : tensor<2x3xf32>
  %16 = graph.acos %x : tensor<2x3xf32>
  // CHECK: graph.atan %{{.*}} : tensor<2x3xf32>
  %17 = graph.atan %x : tensor<2x3xf32>
  // CHECK: graph.sinh %{{.*}} : tensor<2x3xf32>
  %18 = graph.sinh %x : tensor<2x3xf32>
  // CHECK: graph.cosh %{{.*}} : tensor<2x3xf32>
  %19 = graph.cosh %x : tensor<2x3xf32>
  // CHECK: graph.tanh %{{.*}} : tensor<2x3xf32>
  %20 = graph.tanh %x : tensor<2x3xf32>
  // CHECK: graph.asinh %{{.*}} : tensor<2x3xf32>
  %21 = graph.asinh %x : tensor<2x3xf32>
  // CHECK: graph.acosh %{{.*}} : tensor<2x3xf32>
  %22 = graph.acosh %x : tensor<2x3xf32>
  // CHECK: graph.atanh %{{.*}} : tensor<2x3xf32>
  %23 = graph.atanh %x : tensor<2x3xf32>
  // CHECK: graph.relu %{{.*}} : tensor<2x3xf32>
  %24 = graph.relu %x : tensor<2x3xf32>
  // CHECK: graph.sigmoid %{{.*}} : tensor<2x3xf32>
  %25 = graph.sigmoid %x : tensor<2x3xf32>
  // CHECK: graph.softplus %{{.*}} : tensor<2x3xf32>
  %26 = graph.softplus %x : tensor<2x3xf32>
  // CHECK: graph.softsign %{{.*}} : tensor<2x3xf32>
  %27 = graph.softsign %x : tensor<2x3xf32>
  // CHECK: graph.mish %{{.*}} : tensor<2x3xf32>
  %28 = graph.mish %x : tensor<2x3xf32>
  // CHECK: graph.hard_swish %{{.*}} : tensor<2x3xf32>
  %29 = graph.hard_swish %x : tensor<2x3xf32>
  // CHECK: graph.elu %{{.*}} : tensor<2x3xf32>
  %30 = graph.elu %x : tensor<2x3xf32>
  // CHECK: graph.celu %{{.*}} : tensor<2x3xf32>
  %31 = graph.celu %x : tensor<2x3xf32>
  // CHECK: graph.selu %{{.*}} : tensor<2x3xf32>
  %32 = graph.selu %x : tensor<2x3xf32>
  // CHECK: graph.leaky_relu %{{.*}} : tensor<2x3xf32>
  %33 = graph.leaky_relu %x : tensor<2x3xf32>
  // CHECK: graph.hard_sigmoid %{{.*}} : tensor<2x3xf32>
  %34 = graph.hard_sigmoid %x : tensor<2x3xf32>
  // CHECK: graph.thresholded_relu %{{.*}} : tensor<2x3xf32>
  %35 = graph.thresholded_relu %x : tensor<2x3xf32>
  // CHECK: graph.swish %{{.*}} : tensor<2x3xf32>
  %36 = graph.swish %x : tensor<2x3xf32>
  // CHECK: graph.shrink %{{.*}} : tensor<2x3xf32>
  %37 = graph.shrink %x : tensor<2x3xf32>
  // CHECK: graph.gelu %{{.*}} : tensor<2x3xf32>
  %38 = graph.gelu %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @attributes
func.func @attributes(%x: tensor<2x3xf32>) {
  // CHECK: graph.elu %{{.*}} alpha = 5.000000e-01 : tensor<2x3xf32>
  %0 = graph.elu %x alpha = 5.000000e-01 : tensor<2x3xf32>
  // CHECK: graph.celu %{{.*}} alpha = 2.000000e+00 : tensor<2x3xf32>
  %1 = graph.celu %x alpha = 2.000000e+00 : tensor<2x3xf32>
  // CHECK: graph.selu %{{.*}} alpha = 2.000000e+00 gamma = 3.000000e+00 : tensor<2x3xf32>
  %2 = graph.selu %x alpha = 2.000000e+00 gamma = 3.000000e+00 : tensor<2x3xf32>
  // CHECK: graph.leaky_relu %{{.*}} alpha = 2.000000e-01 : tensor<2x3xf32>
  %3 = graph.leaky_relu %x alpha = 2.000000e-01 : tensor<2x3xf32>
  // CHECK: graph.hard_sigmoid %{{.*}} alpha = 5.000000e-01 beta = 2.500000e-01 : tensor<2x3xf32>
  %4 = graph.hard_sigmoid %x alpha = 5.000000e-01 beta = 2.500000e-01 : tensor<2x3xf32>
  // CHECK: graph.thresholded_relu %{{.*}} alpha = 2.000000e+00 : tensor<2x3xf32>
  %5 = graph.thresholded_relu %x alpha = 2.000000e+00 : tensor<2x3xf32>
  // CHECK: graph.swish %{{.*}} alpha = 2.000000e+00 : tensor<2x3xf32>
  %6 = graph.swish %x alpha = 2.000000e+00 : tensor<2x3xf32>
  // CHECK: graph.shrink %{{.*}} bias = 1.500000e+00 lambd = 1.000000e+00 : tensor<2x3xf32>
  %7 = graph.shrink %x bias = 1.500000e+00 lambd = 1.000000e+00 : tensor<2x3xf32>
  // CHECK: graph.gelu %{{.*}} approximate = "tanh" : tensor<2x3xf32>
  %8 = graph.gelu %x approximate = "tanh" : tensor<2x3xf32>
  // CHECK: graph.relu %{{.*}} {test.note = "kept"} : tensor<2x3xf32>
  %9 = graph.relu %x {test.note = "kept"} : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @integers
func.func @integers(%x: tensor<4xi8>, %u: tensor<4xui8>, %b: tensor<4xi1>) {
  // CHECK: graph.abs %{{.*}} : tensor<4xi8>
  %0 = graph.abs %x : tensor<4xi8>
  // CHECK: graph.neg %{{.*}} : tensor<4xi8>
  %1 = graph.neg %x : tensor<4xi8>
  // CHECK: graph.relu %{{.*}} : tensor<4xi8>
  %2 = graph.relu %x : tensor<4xi8>
  // CHECK: graph.bitwise_not %{{.*}} : tensor<4xui8>
  %3 = graph.bitwise_not %u : tensor<4xui8>
  // CHECK: graph.not %{{.*}} : tensor<4xi1>
  %4 = graph.not %b : tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @refined
func.func @refined(%x: tensor<?x3xf32>) {
  // CHECK: graph.relu %{{.*}} : (tensor<?x3xf32>) -> tensor<2x3xf32>
  %0 = graph.relu %x : (tensor<?x3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @predicates
func.func @predicates(%x: tensor<2x3xf32>) {
  // CHECK: graph.is_nan %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %0 = graph.is_nan %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: graph.is_inf %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %1 = graph.is_inf %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: graph.is_inf %{{.*}} detect_negative = false : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %2 = graph.is_inf %x detect_negative = false : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: graph.is_inf %{{.*}} detect_positive = false : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %3 = graph.is_inf %x detect_positive = false : (tensor<2x3xf32>) -> tensor<2x3xi1>
  return
}

// CHECK-LABEL: func.func @cast
func.func @cast(%x: tensor<2x3xf32>) {
  // CHECK: graph.cast %{{.*}} : tensor<2x3xf32> to tensor<2x3xi64>
  %0 = graph.cast %x : tensor<2x3xf32> to tensor<2x3xi64>
  // CHECK: graph.cast %{{.*}} saturate = false : tensor<2x3xf32> to tensor<2x3xf8E4M3FN>
  %1 = graph.cast %x saturate = false : tensor<2x3xf32> to tensor<2x3xf8E4M3FN>
  // CHECK: graph.cast %{{.*}} : tensor<2x3xf32> to tensor<2x3xui4>
  %2 = graph.cast %x : tensor<2x3xf32> to tensor<2x3xui4>
  return
}

// CHECK-LABEL: func.func @clip
func.func @clip(%x: tensor<2x3xf32>, %a: tensor<f32>, %b: tensor<f32>) {
  // CHECK: graph.clip %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = graph.clip %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: graph.clip %{{.*}} min %{{.*}} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = graph.clip %x min %a : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK: graph.clip %{{.*}} max %{{.*}} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = graph.clip %x max %b : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK: graph.clip %{{.*}} min %{{.*}} max %{{.*}} : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = graph.clip %x min %a max %b : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  return
}
