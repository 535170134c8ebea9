func.func @main(%x: tensor<5x8xf32> {phl.name = "x"}, %w: tensor<6x8xf32> {phl.name = "w"},
    %c: tensor<6xf32> {phl.name = "c"}) -> (tensor<5x6xf32> {phl.name = "y"}) {
  %0 = graph.gemm %x, %w, %c {trans_b = true} : (tensor<5x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<5x6xf32>
  %1 = graph.tanh %0 : tensor<5x6xf32>
  %2 = graph.abs %1 : tensor<5x6xf32>
  %3 = graph.exp %2 : tensor<5x6xf32>
  %4 = graph.tanh %3 : tensor<5x6xf32>
  return %4 : tensor<5x6xf32>
}
