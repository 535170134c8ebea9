// A convolution, a bias and a relu: what the accelerator takes in one call.
func.func @main(%x: tensor<1x1x4x4xf32> {phl.name = "x"}) -> (tensor<1x2x4x4xf32> {phl.name = "y"}) {
  %w = graph.constant dense<1.0> : tensor<2x1x3x3xf32>
  %b = graph.constant dense<[0.5, -5.5]> : tensor<2xf32>
  %0 = graph.conv %x, %w, %b pads = [1, 1, 1, 1] : (tensor<1x1x4x4xf32>, tensor<2x1x3x3xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.relu %0 : tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}
