// The network in IR: the attribute and the reference come from the declaration.
func.func @main(%x: tensor<2x8xf32> {phl.name = "x"}) -> (tensor<2x8xf32> {phl.name = "y"}) {
  %0 = graph.custom "SoftGate" of "com.acme" (%x) {groups = array<i64: 1, 0>} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = graph.relu %0 : tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}
