func.func @main(%x: tensor<1x4x?x6xf32>) -> tensor<1x4x?x6xf32> {
  %0 = graph.relu %x : tensor<1x4x?x6xf32>
  return %0 : tensor<1x4x?x6xf32>
}
