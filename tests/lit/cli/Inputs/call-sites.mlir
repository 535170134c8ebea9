// Two calls of one function, each placed by itself.
func.func @main(%x: tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %0 = call @block(%x) {phl.target = "vanilla"} : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %1 = call @block(%0) {phl.target = "llvm"} : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %2 = call @block(%1) : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}
func.func private @block(%x: tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %w = graph.constant dense<0.5> : tensor<8x8x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = call @tail(%0) : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %1 : tensor<1x8x6x6xf32>
}
func.func private @tail(%x: tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %0 = graph.relu %x {phl.target = "host"} : tensor<1x8x6x6xf32>
  %1 = graph.add %0, %x : tensor<1x8x6x6xf32>
  return %1 : tensor<1x8x6x6xf32>
}
