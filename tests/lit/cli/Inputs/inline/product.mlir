func.func @main(%x: tensor<5x8xf32> {phl.name = "x"}, %w: tensor<8x6xf32> {phl.name = "w"})
    -> (tensor<5x6xf32> {phl.name = "y"}) {
  %0 = graph.matmul %x, %w : (tensor<5x8xf32>, tensor<8x6xf32>) -> tensor<5x6xf32>
  %1 = graph.relu %0 : tensor<5x6xf32>
  return %1 : tensor<5x6xf32>
}
