// A network of three functions: one is placed on vanilla as a whole.
func.func private @whole(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32> attributes {phl.target = "vanilla"} {
  %w = graph.constant dense<0.25> : tensor<2x2x3x3xf32>
  %0 = graph.conv %x, %w pads = [1, 1, 1, 1] : (tensor<1x2x8x8xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x8x8xf32>
  %1 = graph.relu %0 : tensor<1x2x8x8xf32>
  return %1 : tensor<1x2x8x8xf32>
}
func.func private @part(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<-0.5> : tensor<2x2x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x2x8x8xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x8x8xf32>
  %1 = graph.max_pool %0 kernel_shape = [2, 2] strides = [2, 2] : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}
func.func @main(%x: tensor<1x2x8x8xf32> {phl.name = "x"}) -> (tensor<1x2x4x4xf32> {phl.name = "y"}) {
  %0 = graph.relu %x : tensor<1x2x8x8xf32>
  %1 = call @whole(%0) : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %2 = call @part(%1) : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32>
  return %2 : tensor<1x2x4x4xf32>
}
