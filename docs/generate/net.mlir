// A network for the picture of README.md: an accelerator takes convolutions and products, the host the rest.
func.func @main(%image: tensor<1x3x32x32xf32> {phl.name = "image"}) -> (tensor<1x10xf32> {phl.name = "scores"}) {
  %w0 = graph.constant dense<0.01> : tensor<16x3x3x3xf32>
  %b0 = graph.constant dense<0.5> : tensor<16xf32>
  %w1 = graph.constant dense<0.02> : tensor<16x16x3x3xf32>
  %w2 = graph.constant dense<0.03> : tensor<16x10xf32>
  %0 = graph.conv %image, %w0, %b0 pads = [1, 1, 1, 1] : (tensor<1x3x32x32xf32>, tensor<16x3x3x3xf32>, tensor<16xf32>) -> tensor<1x16x32x32xf32>
  %1 = graph.relu %0 : tensor<1x16x32x32xf32>
  %2 = graph.conv %1, %w1 pads = [1, 1, 1, 1] : (tensor<1x16x32x32xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x32x32xf32>
  %3 = graph.add %2, %1 : (tensor<1x16x32x32xf32>, tensor<1x16x32x32xf32>) -> tensor<1x16x32x32xf32>
  %4 = graph.global_average_pool %3 : (tensor<1x16x32x32xf32>) -> tensor<1x16x1x1xf32>
  %5 = graph.flatten %4 : (tensor<1x16x1x1xf32>) -> tensor<1x16xf32>
  %6 = graph.matmul %5, %w2 : (tensor<1x16xf32>, tensor<16x10xf32>) -> tensor<1x10xf32>
  %7 = graph.softmax %6 : tensor<1x10xf32>
  return %7 : tensor<1x10xf32>
}
