// A recurrent network: products of the state, sums of all steps, and a loop inside of the loop.
func.func @main(%x: tensor<64x2x8xf32> {phl.name = "x"}, %k: tensor<2x16xf32> {phl.name = "k"})
    -> (tensor<2x16xf32> {phl.name = "last"}, tensor<2x64x16xf32> {phl.name = "all"}) {
  %zero = graph.constant dense<0.0> : tensor<2x16xf32>
  %w = graph.constant dense<0.125> : tensor<8x16xf32>
  %p = graph.matmul %x, %w : (tensor<64x2x8xf32>, tensor<8x16xf32>) -> tensor<64x2x16xf32>
  %r:2 = graph.scan 64 states (%h = %zero) sequences (%now = %p) captures (%c = %k)
      attributes {input_reversed = array<i64: 1>, output_axes = array<i64: 1>}
      : (tensor<2x16xf32>, tensor<64x2x16xf32>, tensor<2x16xf32>) -> (tensor<2x16xf32>, tensor<2x64x16xf32>) {
    %r = graph.constant dense<0.0625> : tensor<16x16xf32>
    %0 = graph.matmul %h, %r : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
    %1 = graph.add %0, %now : tensor<2x16xf32>
    %2 = graph.scan 5 states (%s = %1) sequences () captures (%d = %c) : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32> {
      %3 = graph.mul %s, %d : tensor<2x16xf32>
      %4 = graph.tanh %3 : tensor<2x16xf32>
      graph.yield %4 : tensor<2x16xf32>
    }
    graph.yield %2, %1 : tensor<2x16xf32>, tensor<2x16xf32>
  }
  return %r#0, %r#1 : tensor<2x16xf32>, tensor<2x64x16xf32>
}
