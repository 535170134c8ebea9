func.func @main(%x: tensor<8x16xf32> {phl.name = "x"}, %w: tensor<16x16xf32> {phl.name = "w"})
    -> (tensor<8x16xf32> {phl.name = "y"}) {
  %0 = graph.matmul %x, %w {phl.target = "a"} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %1 = graph.matmul %0, %w {phl.target = "b"} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
