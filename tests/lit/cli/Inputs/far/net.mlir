func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = graph.constant dense<0.5> : tensor<8x8xf32>
  %a = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %b = graph.relu %a : tensor<4x8xf32>
  %c = graph.add %b, %x : tensor<4x8xf32>
  %d = graph.matmul %c, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}
