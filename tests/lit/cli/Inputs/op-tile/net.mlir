func.func @main(%x: tensor<100xf32>, %y: tensor<100xf32>) -> tensor<100xf32> {
  %0 = graph.sub %x, %y : tensor<100xf32>
  return %0 : tensor<100xf32>
}
