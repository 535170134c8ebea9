func.func @main(%x: tensor<5x8xf32> {phl.name = "x"}, %w: tensor<6x8xf32> {phl.name = "w"})
    -> (tensor<5x6xf32> {phl.name = "y"}) {
  %0 = graph.gemm %x, %w {trans_b = true} : (tensor<5x8xf32>, tensor<6x8xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}
