func.func @main(%x: tensor<8x16xf32> {phl.name = "x"}, %w: tensor<16x12xf32> {phl.name = "w"})
    -> (tensor<8x12xf32> {phl.name = "y"}) {
  %0 = graph.matmul %x, %w : (tensor<8x16xf32>, tensor<16x12xf32>) -> tensor<8x12xf32>
  %1 = graph.relu %0 : tensor<8x12xf32>
  return %1 : tensor<8x12xf32>
}
