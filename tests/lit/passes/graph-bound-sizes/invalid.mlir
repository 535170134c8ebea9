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

// What data decide is not what an operation needs it to be.
func.func @main(%x: tensor<4xf32>) -> tensor<3xi64> {
  %0 = graph.non_zero %x : (tensor<4xf32>) -> tensor<1x?xi64>
  %shape = graph.constant dense<3> : tensor<1xi64>
  // expected-error @+1 {{'graph.reshape' op reshapes [1, count of non_zero] to [3]}}
  %1 = graph.reshape %0, %shape : (tensor<1x?xi64>, tensor<1xi64>) -> tensor<3xi64>
  return %1 : tensor<3xi64>
}
