// RUN: phaseline-opt %s --graph-bound-sizes --split-input-file --verify-diagnostics

module attributes {phl.symbols = ["a=1..4", "b=6..8"]} {
  func.func @main(%x: tensor<?xf32> {phl.sizes = ["a"]}, %y: tensor<?xf32> {phl.sizes = ["b"]}) -> tensor<?xf32> {
    // expected-error @+1 {{has operands along one dimension of: a and b elements, which are not known to be equal}}
    %0 = graph.add %x, %y : tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}

// -----

module attributes {phl.symbols = ["n=1..4"]} {
  func.func @main(%x: tensor<?x2x4x4xf32> {phl.sizes = ["n", "", "", ""]}) -> tensor<?x2x2x2xf32> {
    // expected-error @+1 {{'graph.max_pool_with_indices' op has no rule for sizes that are known at run time; give these dimensions one size (known at run time: n)}}
    %0, %1 = graph.max_pool_with_indices %x kernel_shape = [2, 2] strides = [2, 2] : (tensor<?x2x4x4xf32>) -> (tensor<?x2x2x2xf32>, tensor<?x2x2x2xi64>)
    return %0 : tensor<?x2x2x2xf32>
  }
}

// -----

// A data-dependent size is not the one that an operation needs.
func.func @main(%x: tensor<4xf32>) -> tensor<3xi64> {
  %0 = graph.non_zero %x : (tensor<4xf32>) -> tensor<1x?xi64>
  %shape = graph.constant dense<3> : tensor<1xi64>
  // expected-error @+1 {{'graph.reshape' op reshapes [1, count of non_zero] to [3]}}
  %1 = graph.reshape %0, %shape : (tensor<1x?xi64>, tensor<1xi64>) -> tensor<3xi64>
  return %1 : tensor<3xi64>
}

// -----

// A state that doubles has no room that follows from the number of steps.
func.func @main(%x: tensor<2xf32>, %n: tensor<i64>) -> tensor<?xf32> {
  // expected-error @+1 {{'graph.scan' op has state 0 grow by another size in each step along dimension 0}}
  %y = graph.scan 8 limit %n states (%a = %x) sequences () captures () : (tensor<2xf32>, tensor<i64>) -> tensor<?xf32> {
    %next = graph.concat %a, %a axis = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    graph.yield %next : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<2xf32>, %n: tensor<i64>) -> tensor<?xf32> {
  // expected-error @+1 {{'graph.scan' op has state 0 grow by 2 in each of up to 100000000 steps, to more than 16777216 elements along a dimension: give the trip count a value or, if it is an input, a range (--value NAME=1..16)}}
  %y = graph.scan 100000000 limit %n states (%a = %x) sequences () captures () : (tensor<2xf32>, tensor<i64>) -> tensor<?xf32> {
    %next = graph.concat %a, %a axis = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    graph.yield %next : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}

// -----

// Data inside of a loop decide on no size.
module attributes {phl.symbols = ["n=1..4"]} {
  func.func @main(%x: tensor<?xf32> {phl.sizes = ["n"]}) -> tensor<?xf32> {
    // expected-error @+1 {{has a step in which data decide on a size (`non_zero`): sizes inside of a loop have to follow from those of inputs}}
    %y = graph.scan 8 states (%a = %x) sequences () captures () : (tensor<?xf32>) -> tensor<?xf32> {
      %0 = graph.non_zero %a : (tensor<?xf32>) -> tensor<1x?xi64>
      %1 = graph.cast %0 : tensor<1x?xi64> to tensor<1x?xf32>
      %2 = graph.reduce_sum %1 axes = [0, 1] keepdims = false : (tensor<1x?xf32>) -> tensor<f32>
      %3 = graph.add %a, %2 : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
      graph.yield %3 : tensor<?xf32>
    }
    return %y : tensor<?xf32>
  }
}
