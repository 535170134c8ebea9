// Two layers that vanilla takes, with a pool between them that only the host has.
func.func @main(%x: tensor<1x1x8x8xf32> {phl.name = "x"}) -> (tensor<1x4x4x4xf32> {phl.name = "y"}) {
  %w = graph.constant dense<0.25> : tensor<2x1x3x3xf32>
  %b = graph.constant dense<[0.5, -0.5]> : tensor<2xf32>
  %0 = graph.conv %x, %w, %b pads = [1, 1, 1, 1] : (tensor<1x1x8x8xf32>, tensor<2x1x3x3xf32>, tensor<2xf32>) -> tensor<1x2x8x8xf32>
  %1 = graph.relu %0 : tensor<1x2x8x8xf32>
  %2 = graph.max_pool %1 kernel_shape = [2, 2] strides = [2, 2] : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32>
  %v = graph.constant dense<-0.5> : tensor<4x2x1x1xf32>
  %3 = graph.conv %2, %v : (tensor<1x2x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x4x4xf32>
  return %3 : tensor<1x4x4x4xf32>
}
