// Two branches that do not depend on each other, on two devices, and one that neither takes.
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = graph.relu %x {phl.target = "a"} : tensor<4x8xf32>
  %b = graph.add %x, %x {phl.target = "b"} : tensor<4x8xf32>
  %c = graph.softmax %x : tensor<4x8xf32>
  %d = graph.mul %c, %a : tensor<4x8xf32>
  %e = graph.mul %d, %b : tensor<4x8xf32>
  return %e : tensor<4x8xf32>
}
