func.func @main(%x: tensor<4x16xf32> {phl.name = "x"}, %w: tensor<16x16xf32> {phl.name = "w"})
    -> (tensor<4x16xf32> {phl.name = "y"}, tensor<4x16xf32> {phl.name = "z"}) {
  %a = graph.matmul %x, %w : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %b = graph.sinh %a : tensor<4x16xf32>
  %y = graph.matmul %b, %w : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  return %y, %a : tensor<4x16xf32>, tensor<4x16xf32>
}
