func.func @main(%x: tensor<4x8xf32>) -> tensor<4x6xf32> {
  %w = graph.constant dense<0.25> : tensor<8x6xf32>
  %r = graph.relu %x : tensor<4x8xf32>
  %0 = graph.matmul %r, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
