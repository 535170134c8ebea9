// RUN: phaseline-opt %s --pass-pipeline='builtin.module(func.func(pad-constants{multiple=16}))' | FileCheck %s
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(func.func(pad-constants{multiple=0}))' 2>&1 | FileCheck --check-prefix=ZERO %s
// RUN: not phaseline-opt %s --pass-pipeline='builtin.module(func.func(pad-constants{multiple=7}))' 2>&1 | FileCheck --check-prefix=SEVEN %s

// ZERO: multiple is 0; a positive number is needed
// SEVEN: input 1 of f has elements of 4 bytes, which do not fill multiples of 7

// A constant whose size is no multiple gets zeros behind it, in one dimension; the old constant is gone.
// CHECK-LABEL: func.func @pads
// CHECK-DAG: %[[A:.*]] = arith.constant dense_resource<{{[a-z_]*}}.updated{{[_0-9]*}}> : tensor<16xi8>
// CHECK-DAG: %[[B:.*]] = arith.constant dense_resource<{{[a-z_]*}}.updated{{[_0-9]*}}> : tensor<8xf32>
// CHECK-NOT: arith.constant
// CHECK: tir.call_extern @f ins(%[[A]], %[[B]], %arg0 : tensor<16xi8>, tensor<8xf32>, tensor<4xf32>)
func.func @pads(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %b = arith.constant dense<1.0> : tensor<5xf32>
  %e = tensor.empty() : tensor<4xf32>
  %y = tir.call_extern @f ins(%a, %b, %x : tensor<2x2xi8>, tensor<5xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
      args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<ins 2>, #tir.arg<outs 0>] -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A constant that a call is given twice is replaced twice, and goes once.
// CHECK-LABEL: func.func @twice
// CHECK-COUNT-2: arith.constant dense_resource<{{[a-z_]*}}.updated{{.*}}> : tensor<16xi8>
// CHECK-NOT: arith.constant
// CHECK: tir.call_extern @f
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = arith.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi8>
  %e = tensor.empty() : tensor<4xf32>
  %y = tir.call_extern @f ins(%a, %x, %a : tensor<2x2xi8>, tensor<4xf32>, tensor<2x2xi8>) outs(%e : tensor<4xf32>)
      args [#tir.arg<ins 0>, #tir.arg<ins 1>, #tir.arg<ins 2>, #tir.arg<outs 0>] -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @fits
// CHECK: %[[C:.*]] = arith.constant dense<2.0
// CHECK: tir.call_extern @f ins(%[[C]] : tensor<2x2xf32>)
func.func @fits(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<2.0> : tensor<2x2xf32>
  %e = tensor.empty() : tensor<4xf32>
  %y = tir.call_extern @f ins(%c : tensor<2x2xf32>) outs(%e : tensor<4xf32>)
      args [#tir.arg<ins 0>, #tir.arg<outs 0>] -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK: {{[a-z_]*}}.updated: "0x4000000001020304000000000000000000000000"
